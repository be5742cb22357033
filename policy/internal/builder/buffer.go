// Package builder has what the builders of all encodings share: the buffer of their keys' hashes,
// the memory of a filter, and its verification.
package builder

import "sync"

// A Buffer keeps the hashes of a builder's keys, because the size of a filter, and with it the
// place of every probe, is known only when all keys are. The zero Buffer with a Pool is empty.
//
// The hashes lie in chunks. The chunks come from a pool, because engines make a builder for every
// table, and each builder would grow a slice of its own. A chunk suits the 20 to 40 keys of one of
// LevelDB's 2 KiB windows; a large table takes many.
type Buffer[H uint32 | uint64] struct {
	Pool   *sync.Pool // Chunks32 or Chunks64
	Last   *Chunk[H]  // of chunks
	N      int        // hashes in chunks; all chunks but the last are full
	chunks []*Chunk[H]

	// The rest is for builders that leave out each hash that equals the one before it.
	Distinct bool
	settled  int // of the N hashes, those at the front without repetitions
	previous H   // the last of these
}

// A Chunk is a part of a Buffer.
type Chunk[H uint32 | uint64] [ChunkHashes]H

const (
	ChunkHashes = 2048 // hashes in a chunk
	// KeptHashes is how many hashes' memory a finished builder returns to the pool. The rest of a
	// large filter's memory goes to the garbage collector: kept, it would be idle while filters are
	// small.
	KeptHashes = keptChunks * ChunkHashes
	keptChunks = 32
)

// The pools of chunks.
var (
	Chunks32 = sync.Pool{New: func() any { return new(Chunk[uint32]) }}
	Chunks64 = sync.Pool{New: func() any { return new(Chunk[uint64]) }}
)

// Full reports whether Grow must be called before Put. Adding a hash takes two steps. The compiler
// inlines each of them, and would not inline both as one function:
//
//	if b.Full() {
//		b.Grow()
//	}
//	b.Put(hash)
func (b *Buffer[H]) Full() bool { return uint(b.N)%ChunkHashes == 0 }

// Grow makes room for a hash.
func (b *Buffer[H]) Grow() {
	b.Settle()
	if b.N < len(b.chunks)*ChunkHashes { // it left out repetitions
		return
	}
	b.Last = b.Pool.Get().(*Chunk[H])
	b.chunks = append(b.chunks, b.Last)
}

// Put appends a hash.
func (b *Buffer[H]) Put(h H) {
	b.Last[uint(b.N)%ChunkHashes] = h
	b.N++
}

// LeaveOutRepetitions makes an empty buffer leave out each hash that equals the one before it. A
// builder that looks at keys too, as one with tuning does, must not have this method.
func (b *Buffer[H]) LeaveOutRepetitions() { b.Distinct = true }

// Len returns the number of hashes without the repetitions that Settle would leave out.
func (b *Buffer[H]) Len() int {
	if !b.Distinct {
		return b.N
	}
	n, previous := b.settled, b.previous
	for i, h := range b.unsettled() {
		if h != previous || b.settled+i == 0 {
			n++
		}
		previous = h
	}
	return n
}

// unsettled returns the hashes that may have repetitions among them. All are in the last chunk.
func (b *Buffer[H]) unsettled() []H {
	if b.N == b.settled {
		return nil
	}
	start := (len(b.chunks) - 1) * ChunkHashes
	return b.Last[b.settled-start : b.N-start]
}

// Settle leaves out repetitions. Builders call it before they use the hashes.
func (b *Buffer[H]) Settle() {
	if !b.Distinct {
		return
	}
	hashes, n := b.unsettled(), 0
	for _, h := range hashes {
		if h != b.previous || b.settled+n == 0 {
			hashes[n] = h
			n++
		}
		b.previous = h
	}
	b.settled += n
	b.N = b.settled
}

// All calls yield for the hashes, a chunk at a time.
func (b *Buffer[H]) All(yield func([]H) bool) {
	left := b.N
	for _, c := range b.chunks {
		if !yield(c[:min(left, ChunkHashes)]) {
			return
		}
		left -= ChunkHashes
	}
}

// Reset empties the buffer and returns its memory.
func (b *Buffer[H]) Reset() {
	for _, c := range b.chunks[:min(len(b.chunks), keptChunks)] {
		b.Pool.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.Last, b.N = b.chunks[:0], nil, 0
	b.settled = 0
}
