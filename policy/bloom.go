package policy

import (
	"fmt"
	"math"
	"slices"
)

// Bloom is LevelDB's Bloom filter policy: for whole bits per key its filters are exactly those of C++ LevelDB. It is
// immutable and safe for concurrent use.
type Bloom struct {
	name       string
	bitsPerKey float64
	k          int
}

var (
	_ Policy      = (*Bloom)(nil)
	_ BatchReader = (*Bloom)(nil)
)

// NewBloom returns LevelDB's Bloom policy with the given number of bits per key, above 0 and at most 2^30. 10 is
// LevelDB's usual choice. Fractions are allowed: 9.5 gives ceil(9.5*n) bits for n keys. The false positives to expect
// depend on the keys' shape and number; the README has measurements.
//
// It returns an error, which says what to pass instead, if bitsPerKey is out of range or not a number, or if an option
// refuses its argument.
func NewBloom(bitsPerKey float64, opts ...Option) (*Bloom, error) {
	s, err := newSettings(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	return newBloom(bitsPerKey, s), nil
}

// newBloom is NewBloom without its checks. C++ LevelDB defines 0 bits per key (64 bits and k = 1 for any number of
// keys), which nobody wants but the tests compare.
func newBloom(bitsPerKey float64, s settings) *Bloom {
	// 0.69 is nearly ln 2, the optimum; LevelDB rounds down to save probes.
	k := int(min(max(bitsPerKey*0.69, 1), maxProbes))
	return &Bloom{name: s.name, bitsPerKey: bitsPerKey, k: k}
}

// Name returns the name under which engines store the filters.
func (b *Bloom) Name() string { return b.name }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (b *Bloom) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder. It costs one small allocation; the memory for its keys is shared with other
// builders and returns to them at Finish.
func (b *Bloom) NewBuilder() Builder { return &bloomBuilder{bloom: b} }

// AppendFilter appends the filter of keys to dst and returns the extended slice; LevelDB calls it CreateFilter. The keys
// must not lie in the spare capacity of dst.
func (b *Bloom) AppendFilter(dst []byte, keys [][]byte) []byte {
	dst, array := b.extend(dst, len(keys))
	m := newModulus(len(array))
	chunk := hashChunks.Get().(*hashChunk) // thousands at a time: many writes to a large filter then wait side by side
	hashes := &chunk.hashes
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		hashKeys(hashes[:n], keys[:n])
		setProbes(array, m, hashes[:n], b.k)
		keys = keys[n:]
	}
	hashChunks.Put(chunk)
	return dst
}

// FilterSize returns the size in bytes of a filter of n keys.
func (b *Bloom) FilterSize(n int) uint64 { return max(8, filterBytes(n, b.bitsPerKey)) + 1 }

// filterBytes returns how many bytes n keys take.
func filterBytes(n int, bitsPerKey float64) uint64 {
	var nbits uint64
	if whole := uint64(bitsPerKey); float64(whole) == bitsPerKey {
		nbits = uint64(n) * whole // exact beyond 2^53 too
	} else {
		nbits = uint64(math.Ceil(float64(n) * bitsPerKey))
	}
	return (nbits + 7) / 8
}

// intSize returns the size of a filter as an int. It panics, as make does, if an int cannot hold
// it, which takes a 32-bit platform and a filter that no memory there could hold.
func intSize(size uint64, n int, bitsPerKey float64) int {
	if size > math.MaxInt {
		panic(fmt.Sprintf("policy: a filter of %d keys at %v bits per key has %d bytes, more than an int holds", n, bitsPerKey, size))
	}
	return int(size)
}

// extend appends an empty filter for n keys to dst, and returns the extended slice and the filter's bit array in it.
func (b *Bloom) extend(dst []byte, n int) (extended, array []byte) {
	size := intSize(b.FilterSize(n), n, b.bitsPerKey)
	extended = slices.Grow(dst, size)[:len(dst)+size]
	array = extended[len(dst) : len(extended)-1]
	clear(array) // Grow leaves the spare capacity as it was
	extended[len(extended)-1] = byte(b.k)
	return extended, array
}
