package policy

import "fmt"

// Bloom is LevelDB's Bloom filter policy: for a whole number of bits per key its filters are
// exactly those of C++ LevelDB. Get one from [NewBloom]. It is immutable and safe for concurrent
// use.
type Bloom struct {
	settings
	k int
}

var _ Policy = (*Bloom)(nil)

// maxProbes is the largest k. A larger last byte belongs to another encoding.
const maxProbes = 30

// NewBloom returns LevelDB's Bloom policy with the given number of bits per key, above 0 and at
// most 1000. LevelDB's usual choice is 10. Fractions are allowed: 9.5 gives ceil(9.5*n) bits for n
// keys. The rate of false positives depends on the shape of the keys and on their number in one
// filter; `go run ./bench rates` measures it.
//
// It returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewBloom(bitsPerKey float64, opts ...BloomOption) (*Bloom, error) {
	s, err := newSettings(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	return bloomOf(s)
}

func bloomOf(s settings) (*Bloom, error) {
	if !(s.bitsPerKey > 0 && s.bitsPerKey <= maxBitsPerKey) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number above 0 and at most %d, usually 10", s.bitsPerKey, maxBitsPerKey)
	}
	return newBloom(s), nil
}

// maxBitsPerKey limits the setting: larger values are mistakes. From 44 bits per key on, k is
// maxProbes, and most false positives have the very hash of a key, which no number of bits helps.
const maxBitsPerKey = 1000

// newBloom accepts 0 bits per key too, which C++ LevelDB defines (64 bits and k = 1 for any number
// of keys). The tests compare it.
func newBloom(s settings) *Bloom {
	// 0.69 is nearly ln 2, the optimum; LevelDB rounds down to save probes.
	return &Bloom{s, int(min(max(s.bitsPerKey*0.69, 1), maxProbes))}
}

// String returns the policy's settings, such as "bloom:10". Options follow after commas, the name
// last: "bloom:9.5,tuning=0.05,verify,name=leveldb.BuiltinBloomFilter".
func (b *Bloom) String() string { return b.format("bloom") }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (*Bloom) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder. It costs one small allocation: builders share the memory for
// their keys' hashes, from a pool, and return it at Finish.
func (b *Bloom) NewBuilder() Builder {
	mustBeUsable(b)
	if b.tuning > 0 {
		return newTuningBuilder(b)
	}
	return newBloomBuilder(b)
}

// AppendFilter appends the filter of keys to dst and returns the extended slice; LevelDB calls it
// CreateFilter. The keys must not lie in the spare capacity of dst.
func (b *Bloom) AppendFilter(dst []byte, keys [][]byte) []byte {
	mustBeUsable(b)
	if b.tuning > 0 || b.verify {
		return appendByBuilder(b, dst, keys)
	}
	dst, array := b.extendFilter(dst, len(keys))
	m := newModulus(len(array))
	// A whole chunk, so that cache misses in large filters overlap.
	hashes := chunks32.Get().(*hashChunk[uint32])
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		hashKeys(hashes[:n], keys[:n])
		setProbes(array, m, hashes[:n], b.k)
		keys = keys[n:]
	}
	chunks32.Put(hashes)
	return dst
}

// FilterSize returns the size in bytes of a filter of n keys. With [WithTuning] a filter may take
// up to 1 + memory times as much. FilterSize panics if n is negative.
func (b *Bloom) FilterSize(n int) uint64 {
	mustBeUsable(b)
	return max(8, filterBytes(n, b.bitsPerKey)) + 1
}

// extendFilter appends a filter of n keys without their bits to dst. It returns the extended slice
// and the array for the bits in it.
func (b *Bloom) extendFilter(dst []byte, n int) (extended, array []byte) {
	extended, filter := b.extend(dst, b.FilterSize(n), n)
	last := len(filter) - 1
	filter[last] = byte(b.k)
	return extended, filter[:last]
}
