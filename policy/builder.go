package policy

import "sync"

// bloomBuilder keeps the hash of every added key: the size of the filter, and with it the place of every probe, is known
// only when all keys are.
type bloomBuilder struct {
	bloom  *Bloom
	chunks []*hashChunk
	n      int // hashes in chunks; all chunks but the last are full
}

// Hashes are kept in chunks that all builders share, because engines make a builder for every table: without the pool
// each would grow a slice of its own and leave it to the garbage collector. 16 KiB hold the 20 to 40 keys of one of
// LevelDB's 2 KiB windows as well as, a few hundred times, those of a large table.
type hashChunk [4096]uint32

var hashChunks = sync.Pool{New: func() any { return new(hashChunk) }}

func (b *bloomBuilder) Add(key []byte) {
	i := b.n % len(hashChunk{})
	if i == 0 {
		b.chunks = append(b.chunks, hashChunks.Get().(*hashChunk))
	}
	b.chunks[len(b.chunks)-1][i] = Hash(key)
	b.n++
}

func (b *bloomBuilder) Len() int { return b.n }

func (b *bloomBuilder) Size() int { return b.bloom.size(b.n) }

func (b *bloomBuilder) Finish(dst []byte) []byte {
	dst, array := b.bloom.extend(dst, b.n)
	m := newModulus(len(array))
	left := b.n
	for _, c := range b.chunks {
		for _, h := range c[:min(left, len(c))] {
			setProbes(array, m, h, b.bloom.k)
		}
		left -= len(c)
		hashChunks.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.n = b.chunks[:0], 0
	return dst
}
