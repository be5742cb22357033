package policy

import (
	"math/bits"
	"sync"
)

// bloomBuilder keeps the hash of every added key: the size of the filter, and with it the place of every probe, is known
// only when all keys are.
type bloomBuilder struct {
	bloom  *Bloom
	last   *hashChunk // of chunks
	chunks []*hashChunk
	n      int // hashes in chunks; all chunks but the last are full
}

// Hashes are kept in chunks that all builders share, because engines make a builder for every table: without the pool
// each would grow a slice of its own and leave it to the garbage collector. 16 KiB hold the 20 to 40 keys of one of
// LevelDB's 2 KiB windows as well as, a few hundred times, those of a large table.
type hashChunk [4096]uint32

var hashChunks = sync.Pool{New: func() any { return new(hashChunk) }}

func (b *bloomBuilder) Add(key []byte) {
	h := hashTail(hashWords(hashStart(key), key), key)
	i := uint(b.n) % uint(len(hashChunk{}))
	if i == 0 {
		b.addChunk()
	}
	b.last[i] = h
	b.n++
}

func (b *bloomBuilder) addChunk() {
	b.last = hashChunks.Get().(*hashChunk)
	b.chunks = append(b.chunks, b.last)
}

func (b *bloomBuilder) Len() int { return b.n }

func (b *bloomBuilder) Size() int { return b.bloom.size(b.n) }

func (b *bloomBuilder) Finish(dst []byte) []byte {
	dst, array := b.bloom.extend(dst, b.n)
	m := newModulus(len(array))
	left := b.n
	for _, c := range b.chunks {
		setProbes(array, m, c[:min(left, len(c))], b.bloom.k)
		left -= len(c)
		hashChunks.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.last, b.n = b.chunks[:0], nil, 0
	return dst
}

// setProbes sets the k bits of every key of the given hashes. m is the modulus of len(array).
func setProbes(array []byte, m modulus, hashes []uint32, k int) {
	if k == 6 { // 10 bits per key, the usual setting: without the inner loop, a quarter less time
		for _, h := range hashes {
			delta := probeDelta(h)
			setProbe(array, m, h)
			setProbe(array, m, h+delta)
			setProbe(array, m, h+2*delta)
			setProbe(array, m, h+3*delta)
			setProbe(array, m, h+4*delta)
			setProbe(array, m, h+5*delta)
		}
		return
	}
	for _, h := range hashes {
		delta := probeDelta(h)
		for range k {
			setProbe(array, m, h)
			h += delta
		}
	}
}

func setProbe(array []byte, m modulus, h uint32) {
	array[m.byteOf(h)] |= bits.RotateLeft8(1, int(h)) // bit h%8
}
