package policy

import (
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/rate"
)

// Bloom is LevelDB's Bloom filter policy: for a whole number of bits per key its filters are
// exactly those of C++ LevelDB. Get one from [NewBloom]. It is immutable and safe for concurrent
// use.
type Bloom struct {
	settings
	setting bloom.Setting // the same for package bloom
}

var _ Policy = (*Bloom)(nil)

// NewBloom returns LevelDB's Bloom policy with the given number of bits per key, above 0 and at
// most 1000. LevelDB's usual choice is 10. Fractions are allowed: 9.5 gives ceil(9.5*n) bits for n
// keys.
//
// This is the share of absent keys that are false positives, in per cent, with n random keys in a
// filter, and the filter's size with 1,000 of them:
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
func NewBloom(bitsPerKey float64, opts ...BloomOption) (*Bloom, error) {
	s, err := newSettings(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	return bloomOf(s)
}

// maxBitsPerKey limits the setting: larger values are mistakes. From 44 bits per key on, k is the
// largest, and most false positives have the very hash of a key, which no number of bits helps.
const maxBitsPerKey = 1000

func bloomOf(s settings) (*Bloom, error) {
	if !(s.bitsPerKey > 0 && s.bitsPerKey <= maxBitsPerKey) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number above 0 and at most %d, usually 10", s.bitsPerKey, maxBitsPerKey)
	}
	return newBloom(s), nil
}

// newBloom accepts 0 bits per key too, which C++ LevelDB defines. The tests compare it.
func newBloom(s settings) *Bloom {
	return &Bloom{s, bloom.Setting{BitsPerKey: s.bitsPerKey, Tuning: s.tuning, Verify: s.verify}}
}

// WithTuning lets [NewBloom] choose the size and k of each filter, for keys that end in numbers,
// such as counters and zero-padded decimals. In filters of up to some thousands of them, LevelDB's
// choice has up to 99 % false positives among the neighbors of the keys, where 1 % is expected.
// Tuned filters have about 1 %; of binary big-endian counters about 10 % in filters of up to 100
// keys, and about 1 % with some thousands. Every reader of LevelDB's filters, C++ LevelDB and
// goleveldb among them, takes size and k from the filter. So all of them read tuned filters, and
// have their low rate.
//
// memory is the largest part by which a filter may exceed LevelDB's size: above 0 and at most 1,
// usually 0.05. Some filters are smaller than LevelDB's.
//
// Keys must be added in order, as engines do. Where they are near neighbors, a builder takes a size
// that spreads their probes, and probes the filter with absent keys between its own. If too many
// are false positives, it tries other sizes and other ks and returns the best filter. If keys are
// not in order, or none are near neighbors, as with random keys, the filter is LevelDB's.
//
// From 32,768 keys on, a builder tries nothing: every filter gets two more probes than LevelDB's
// and a size that suits all keys. From about 50,000 dense decimal keys in one filter on, different
// keys have the same 32-bit hash, and nothing in the format helps: use [NewRibbon] there.
//
// A builder takes up to 5 KiB more memory, a copy of one key, and twice the memory of the filter
// while it tries others. Building takes up to twice as long for random keys. For dense ones it
// takes 7 to 40 times as long with 20 to 100 keys, up to 8 times with 500, and up to 4 times with
// 10,000.
func WithTuning(memory float64) BloomOption { return tuning(memory) }

type tuning float64

func (memory tuning) apply(s *settings) error {
	if !(memory > 0 && memory <= 1) { // a NaN fails every comparison
		return fmt.Errorf("policy: tuning with %v more memory: "+
			"pass a part above 0 and at most 1, usually 0.05", float64(memory))
	}
	s.tuning = float64(memory)
	return nil
}

// tunedOf returns the policy of kind "tuned".
func tunedOf(s settings) (Policy, error) {
	if s.tuning == 0 {
		s.tuning = 0.05
	}
	return bloomOf(s)
}

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
// It takes up to a second or two, because it simulates filters, always the same ones:
// [Info.Estimate] is quick, but in small filters far too low.
func (b *Bloom) FPP(n int) float64 {
	mustBeUsable(b)
	size, _, k := b.setting.Choice(n)
	return rate.Bloom(size-1, k, n)
}
