package policy

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/rate"
)

// Bloom is LevelDB's Bloom filter policy: for a whole number of bits per key its filters are
// exactly those of C++ LevelDB. Get one from [NewBloom]. It is immutable and safe for concurrent
// use.
type Bloom struct{ common }

var _ Sized = (*Bloom)(nil)

// NewBloom returns LevelDB's Bloom policy with the given number of bits per key, above 0 and at
// most 1000. LevelDB's usual choice is 10. Fractions are allowed: 9.5 gives ceil(9.5*n) bits for n
// keys.
//
// This is the share of absent keys that are false positives, in per cent, with n random keys in a
// filter, and the size of a filter of 1,000 keys:
//
//	bits per key    n = 20    1,000      100,000    1,000,000    bytes of 1,000
//	6               6.98      6.17       8.50       8.47         751
//	8               2.67      2.24       3.13       3.18         1001
//	10              1.20      0.874      1.45       1.30         1251
//	14              0.344     0.130      0.183      0.214        1751
//	20              0.112     0.00854    0.0131     0.0395       2501
//
// [Bloom.FPP] returns it for other numbers. With dense numbers, such as counters, there are more
// false positives: up to 99 % in filters of some dozens of them, and 10 % with a million.
// [WithTuning] helps in filters of up to some thousands; [NewRibbon] always.
//
// NewBloom returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewBloom(bitsPerKey float64, opts ...Option) (*Bloom, error) {
	c, err := newCommon(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	if !(bitsPerKey > 0 && bitsPerKey <= maxBitsPerKey) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number above 0 and at most %d, usually 10", bitsPerKey, maxBitsPerKey)
	}
	return &Bloom{c}, nil
}

// maxBitsPerKey limits the setting: larger values are mistakes. From 44 bits per key on, k is the
// largest, and most false positives have the very hash of a key, which no number of bits helps.
const maxBitsPerKey = 1000

func (b *Bloom) self() Policy { return b }
func (b *Bloom) usable() bool { return b != nil && b.name != "" }

// String returns the policy's settings as [FromString] takes them, such as "bloom:10" or
// "bloom:9.5,tuning=0.05,verify,name=leveldb.BuiltinBloomFilter".
func (b *Bloom) String() string { return b.format("bloom") }

// NewBuilder returns an empty builder. It costs one small allocation: builders share the memory for
// their keys' hashes, from a pool, and return it at Finish.
func (b *Bloom) NewBuilder() Builder {
	mustBeUsable(b)
	return bloom.NewBuilder(&b.setting)
}

// AppendFilter appends the filter of keys to dst and returns the extended slice; LevelDB calls it
// CreateFilter. The keys must not lie in the spare capacity of dst.
func (b *Bloom) AppendFilter(dst []byte, keys [][]byte) []byte {
	return appendByBuilder(b, dst, keys)
}

// FilterSize returns the size in bytes of a filter of n keys. With [WithTuning] a filter may take
// up to 1 + memory times as much. FilterSize panics if n is negative.
func (b *Bloom) FilterSize(n int) uint64 {
	mustBeUsable(b)
	return b.setting.Size(n)
}

// FPP returns the false-positive probability of a filter of n different keys whose hashes are like
// random numbers. In filters of 8 to 400,000 keys, with up to 20 bits per key, it is within 5 % of
// the measured rate. It panics if n is negative.
//
// For dense numbers, such as counters, no formula holds. With [WithTuning] too, FPP is that of
// random keys, in filters of LevelDB's size or the one that 32,768 keys or more get. WithTuning
// says how close filters of dense numbers come to it.
//
// It takes up to two seconds, because it simulates filters, always the same ones. [Info.Estimate]
// is quick, but far too low for small filters.
func (b *Bloom) FPP(n int) float64 {
	mustBeUsable(b)
	size, _, k := b.setting.Choice(n)
	return rate.Bloom(size-1, k, n)
}
