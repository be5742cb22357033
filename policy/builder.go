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
	n      int // keys in chunks; all chunks but the last are full
}

// Hashes are kept in chunks that all builders share, because engines make a builder for every table: without the pool
// each would grow a slice of its own and leave it to the garbage collector. 16 KiB hold the 20 to 40 keys of one of
// LevelDB's 2 KiB windows as well as, a few hundred times, those of a large table.
type hashChunk struct {
	hashes  [hashesInChunk]uint32
	pending keyRows // with useLanes: the last keys, whose hashes are yet to come if they fit
}

var hashChunks = sync.Pool{New: func() any { return new(hashChunk) }}

const hashesInChunk = 4096

func (b *bloomBuilder) Add(key []byte) {
	i := uint(b.n)
	if useLanes {
		if i%lanes == 0 {
			b.nextLanes()
		}
		b.n++
		pending := &b.last.pending
		pending.lengths[i%lanes] = uint32(min(len(key), maxRow+1))
		switch row := &pending.rows[i%lanes]; {
		case len(key) < 8:
			row.put0to7(key)
			return
		case len(key) <= 16:
			row.put8to16(key)
			return
		case len(key) <= 32:
			row.put17to32(key)
			return
		case len(key) <= maxRow:
			row.put33to64(key)
			return
		}
	} else {
		if i%hashesInChunk == 0 {
			b.addChunk()
		}
		b.n++
	}
	b.last.hashes[i%hashesInChunk] = hashTail(hashWords(hashStart(key), key), key)
}

func (b *bloomBuilder) addChunk() {
	b.last = hashChunks.Get().(*hashChunk)
	b.chunks = append(b.chunks, b.last)
}

// nextLanes makes room for as many keys as there are lanes.
func (b *bloomBuilder) nextLanes() {
	b.hashPending()
	if b.n%hashesInChunk == 0 {
		b.addChunk()
	}
}

// hashPending hashes the keys that Add has left for later.
func (b *bloomBuilder) hashPending() {
	if useLanes && b.n > 0 {
		first := (b.n - 1) / lanes * lanes % hashesInChunk
		hashKeyRows((*[lanes]uint32)(b.last.hashes[first:]), &b.last.pending)
	}
}

func (b *bloomBuilder) Len() int { return b.n }

func (b *bloomBuilder) Finish(dst []byte) []byte {
	dst, array := b.bloom.extend(dst, b.n)
	m := newModulus(len(array))
	b.hashPending()
	left := b.n
	for _, c := range b.chunks {
		setProbes(array, m, c.hashes[:min(left, hashesInChunk)], b.bloom.k)
		left -= hashesInChunk
		hashChunks.Put(c)
	}
	clear(b.chunks) // they are other builders' now
	b.chunks, b.last, b.n = b.chunks[:0], nil, 0
	return dst
}

// setProbes sets the k bits of every key of the given hashes. m is the modulus of len(array).
func setProbes(array []byte, m modulus, hashes []uint32, k int) {
	if groups := len(hashes) / lanes; useLanes && groups > 0 {
		bytes, reciprocal := m.laneModulus()
		setLanes(&array[0], bytes, reciprocal, &hashes[0], groups, k)
		hashes = hashes[groups*lanes:]
	}
	if k == 6 { // 10 bits per key, the usual setting: without the inner loop it takes clearly less time
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
