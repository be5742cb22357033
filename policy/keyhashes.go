package policy

import "sync"

// keyHashes keeps the hashes of keys for the builders of the encodings in the reserved range.
type keyHashes struct {
	last   *keyHashChunk // of chunks
	chunks []*keyHashChunk
	n      int // hashes in chunks; all chunks but the last are full
}

// 16 KiB, as a hashChunk.
type keyHashChunk [2048]uint64

var keyHashChunks = sync.Pool{New: func() any { return new(keyHashChunk) }}

// Adding a hash takes two steps, which the compiler inlines one by one, and would not together:
//
//	if k.full() {
//		k.grow()
//	}
//	k.put(hash)
func (k *keyHashes) full() bool { return uint(k.n)%uint(len(keyHashChunk{})) == 0 }

func (k *keyHashes) grow() {
	k.last = keyHashChunks.Get().(*keyHashChunk)
	k.chunks = append(k.chunks, k.last)
}

func (k *keyHashes) put(h uint64) {
	k.last[uint(k.n)%uint(len(keyHashChunk{}))] = h
	k.n++
}

// Len returns the number of hashes.
func (k *keyHashes) Len() int { return k.n }

// all calls yield for the hashes, some at a time.
func (k *keyHashes) all(yield func([]uint64) bool) {
	left := k.n
	for _, c := range k.chunks {
		if !yield(c[:min(left, len(c))]) {
			return
		}
		left -= len(c)
	}
}

// reset leaves none, and gives the memory to others.
func (k *keyHashes) reset() {
	for _, c := range k.chunks {
		keyHashChunks.Put(c)
	}
	clear(k.chunks)
	k.chunks, k.last, k.n = k.chunks[:0], nil, 0
}
