package policy

import "fmt"

// Ribbon is a policy whose filters are the smallest: at the same size they have a ninth of the
// false positives of [Bloom] and [BlockedBloom] with 10 bits per key, or as many in 30 % less
// memory (`go run ./bench curve` and `go run ./bench size`). Lookups and above all builds take
// longer. Get one from [NewRibbon].
//
// A filter solves linear equations over GF(2), one for every key and column of bits, by the method
// of Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor" (2021), with the
// bumping of Dillinger, Huebschle-Schneider, Sanders and Walzer (2022). FORMAT.md has the bytes.
//
// Readers other than this package, C++ LevelDB and goleveldb among them, answer "may contain" for
// every key: they read more, never less. A Ribbon is immutable and safe for concurrent use.
type Ribbon struct {
	common
	blocked *BlockedBloom // for the keys that do not suit
}

var (
	_ Policy      = (*Ribbon)(nil)
	_ BatchReader = (*Ribbon)(nil)
)

// NewRibbon returns the ribbon policy with the given number of bits per key, from 2 to 40.
// Fractions are allowed. No filter of b bits per key can have fewer false positives than a share of
// 2^-b of the absent keys, whatever their shape. With 10 bits that is 0.098 %, and these have less
// than 0.155 % from 20 keys on, and less than 0.115 % from 500 keys on (TestRibbonRates).
//
// A filter has 3 bytes in addition. Keys that occur twice take no more room. A filter whose bits
// take less than 5 bytes is a blocked Bloom filter. So is one whose equations have no solution,
// which only keys chosen against the hash make likely: the hash has no secret.
//
// It returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewRibbon(bitsPerKey float64, opts ...Option) (*Ribbon, error) {
	if !(bitsPerKey >= 2 && bitsPerKey <= ribbonColumns) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number from 2 to %d for ribbon filters, usually 10", bitsPerKey, ribbonColumns)
	}
	blocked, err := NewBlockedBloom(bitsPerKey, opts...)
	if err != nil {
		return nil, err
	}
	return &Ribbon{blocked.common, blocked}, nil
}

// String returns the policy's settings, such as "ribbon:7"; see [Bloom.String].
func (r *Ribbon) String() string { return r.format("ribbon") }

// MayContainMany answers for many keys at once. It is the function [MayContainMany].
func (*Ribbon) MayContainMany(filter []byte, keys [][]byte, out []bool) {
	MayContainMany(filter, keys, out)
}

// NewBuilder returns an empty builder. It costs one small allocation; builders share the memory for
// their keys and return it at Finish. Building takes about 36 bytes per key in large filters of 10
// bits per key, the filter among them
// (go test ./policy -run '^$' -bench BuildMemory/ribbon -benchtime 1x).
func (r *Ribbon) NewBuilder() Builder {
	mustBeUsable(r)
	return &ribbonBuilder{hashBuffer[uint64]{pool: &chunks64}, r}
}

// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must not
// lie in the spare capacity of dst.
func (r *Ribbon) AppendFilter(dst []byte, keys [][]byte) []byte {
	return appendByBuilder(r, dst, keys)
}

// FilterSize returns the size in bytes of a filter of n distinct keys. It panics if n is
// negative.
func (r *Ribbon) FilterSize(n int) uint64 {
	mustBeUsable(r)
	if !r.suits(n) {
		return r.blocked.FilterSize(n)
	}
	return filterBytes(n, r.bitsPerKey) + blockedTrailer
}

// suits reports whether n distinct keys get a ribbon filter: smaller filters have fewer false
// positives as blocked ones, because their parameters take less room.
func (r *Ribbon) suits(n int) bool {
	size := filterBytes(n, r.bitsPerKey)
	return 5 <= size && size <= maxRibbonPayload && n <= maxRibbonKeys
}

// ribbonVerified is the number of keys below which filters are verified without WithVerify. That
// takes about a fifth of the build (BenchmarkVerify/ribbon).
const ribbonVerified = 10_000
