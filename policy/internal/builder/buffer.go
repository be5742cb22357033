// Package builder holds what the builders of all encodings share: their setting, and the buffer of
// their keys' hashes.
package builder

import "sync"

// A Buffer keeps the hashes of a builder's keys, because the size of a filter, and with it the
// place of every probe, is known only when all keys are. A Buffer with a Pool is ready for use.
//
// The hashes lie in chunks. The chunks come from a pool, because engines make a builder for every
// table, and each builder would grow a slice of its own. A chunk suits the 20 to 40 keys of one of
// LevelDB's 2 KiB windows; a large table takes many.
type Buffer[H uint32 | uint64] struct {
	Pool     *sync.Pool // Chunks32 or Chunks64
	Distinct bool       // leave out each hash that equals the one before it
	N        int        // hashes in chunks; all chunks but the last are full
	chunks   []*Chunk[H]
	last     *Chunk[H] // of chunks
	previous H         // the last of the N hashes
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

// Repeats reports whether to leave out a hash. Adding one takes three steps. The compiler inlines
// each of them, and would not inline all as one function:
//
//	if b.Repeats(hash) {
//		return
//	}
//	if b.Full() {
//		b.Grow()
//	}
//	b.Put(hash)
func (b *Buffer[H]) Repeats(h H) bool { return b.Distinct && h == b.previous && b.N > 0 }

// Full reports whether Grow must be called before Put.
func (b *Buffer[H]) Full() bool { return uint(b.N)%ChunkHashes == 0 }

// Grow makes room for a hash.
func (b *Buffer[H]) Grow() {
	b.last = b.Pool.Get().(*Chunk[H])
	b.chunks = append(b.chunks, b.last)
}

// Put appends a hash.
func (b *Buffer[H]) Put(h H) {
	b.last[uint(b.N)%ChunkHashes] = h
	b.previous = h
	b.N++
}

// Len returns the number of hashes.
func (b *Buffer[H]) Len() int { return b.N }

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

// Finish ends the filter of the buffer's keys, which begins at start in dst. It empties the buffer,
// returns its memory to the pool, and counts the filter if the setting says so. It returns dst.
func (b *Buffer[H]) Finish(dst []byte, start int, s *Setting) []byte {
	if s.Counters != nil {
		s.Counters.built(b.N, dst[start:])
	}
	for _, c := range b.chunks[:min(len(b.chunks), keptChunks)] {
		b.Pool.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.last, b.N = b.chunks[:0], nil, 0
	return dst
}
