package policy

import "sync"

// A hashBuffer keeps the hashes of a builder's keys: the size of a filter, and with it the place of
// every probe, is known only when all keys are.
//
// The hashes lie in chunks. The chunks come from a pool, because engines make a builder for every
// table, and each builder would grow a slice of its own. A chunk suits the 20 to 40 keys of one of
// LevelDB's 2 KiB windows; a large table takes many.
type hashBuffer[H uint32 | uint64] struct {
	pool   *sync.Pool    // of *hashChunk[H]
	last   *hashChunk[H] // of chunks
	chunks []*hashChunk[H]
	n      int // hashes in chunks; all chunks but the last are full

	distinct bool // leave out each hash that equals the one before it
	kept     int  // of the n hashes, those among which there are no repetitions any more
	previous H    // the last of these
}

type hashChunk[H uint32 | uint64] [chunkHashes]H

const (
	chunkHashes = 2048
	// keptChunks is how many chunks a finished builder returns to the pool. The rest of a large
	// filter's memory goes to the garbage collector: kept, it would be idle memory while filters
	// are small.
	keptChunks = 32
)

var (
	chunks32 = sync.Pool{New: func() any { return new(hashChunk[uint32]) }}
	chunks64 = sync.Pool{New: func() any { return new(hashChunk[uint64]) }}
)

// Adding a hash takes two steps. The compiler inlines each of them, and would not inline both
// as one function:
//
//	if b.full() {
//		b.grow()
//	}
//	b.put(hash)
func (b *hashBuffer[H]) full() bool { return uint(b.n)%chunkHashes == 0 }

func (b *hashBuffer[H]) grow() {
	if b.Len() < len(b.chunks)*chunkHashes { // it left out repetitions
		return
	}
	b.last = b.pool.Get().(*hashChunk[H])
	b.chunks = append(b.chunks, b.last)
}

func (b *hashBuffer[H]) put(h H) {
	b.last[uint(b.n)%chunkHashes] = h
	b.n++
}

// Len returns the number of keys added since the last Finish.
func (b *hashBuffer[H]) Len() int {
	if b.distinct && b.n > b.kept {
		b.leaveOut()
	}
	return b.n
}

// leaveOut leaves out repetitions among the hashes that are not kept yet, all in the last chunk.
func (b *hashBuffer[H]) leaveOut() {
	start := (len(b.chunks) - 1) * chunkHashes
	hashes, previous := b.last[b.kept-start:b.n-start], b.previous
	if b.kept == 0 {
		previous = ^hashes[0]
	}
	n := 0
	for _, h := range hashes {
		hashes[n] = h
		if h != previous {
			n++
		}
		previous = h
	}
	b.previous = previous
	b.kept += n
	b.n = b.kept
}

// leaveOutRepetitions is for [NewDistinctBuilder]. The builder must call Len before it uses n.
func (b *hashBuffer[H]) leaveOutRepetitions() { b.distinct = true }

// all calls yield for the hashes, a chunk at a time.
func (b *hashBuffer[H]) all(yield func([]H) bool) {
	left := b.n
	for _, c := range b.chunks {
		if !yield(c[:min(left, chunkHashes)]) {
			return
		}
		left -= chunkHashes
	}
}

// reset empties the buffer and returns its memory.
func (b *hashBuffer[H]) reset() {
	for _, c := range b.chunks[:min(len(b.chunks), keptChunks)] {
		b.pool.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.last, b.n = b.chunks[:0], nil, 0
	b.kept = 0
}
