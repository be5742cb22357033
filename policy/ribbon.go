package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// Ribbon is a policy whose filters are the smallest: at the same size they have a tenth of the
// false positives of [Bloom] with 10 bits per key, or as many in 30 % less memory. Building them
// takes longer. Get one from [NewRibbon].
//
// A filter solves linear equations over GF(2), one for every key and column of bits, by the method
// of Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor" (2021).
// FORMAT.md has the bytes, and package internal/ribbon explains them.
//
// Readers other than this package, C++ LevelDB and goleveldb among them, answer "may contain" for
// every key, except in filters of few keys: they read more, never less. A Ribbon is immutable and
// safe for concurrent use.
type Ribbon struct {
	settings
	exact *Bloom // for few keys
	few   int    // the largest number of keys that are few
}

var _ Policy = (*Ribbon)(nil)

// NewRibbon returns the ribbon policy with the given number of bits per key, from 2 to 40.
// Fractions are allowed. The shape of the keys does not matter. No filter of b bits per key can
// have a false-positive probability below 2^-b, the limit. These have at most, in per cent:
//
//	bits per key    limit     8 to 700 keys    701 to 4,999    from 5,000    bytes of 1,000
//	7               0.781     0.79             1.05            0.91          883
//	10              0.0977    0.102            0.131           0.115         1258
//	16              0.00153   0.0017           0.0021          0.0018        2008
//
// Besides its bits, a filter has 4 bytes, from 701 keys on 8. With fractions of bits, filters of
// up to 700 keys may be smaller. For fewer than 8 keys, or if the bits take less than 8 bytes, the
// filter is the one that [Bloom] builds, which everybody reads. With more than 2^28 keys it
// excludes nothing.
//
// It returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewRibbon(bitsPerKey float64, opts ...Option) (*Ribbon, error) {
	s, err := newSettings(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	return ribbonOf(s)
}

func ribbonOf(s settings) (*Ribbon, error) {
	if !(s.bitsPerKey >= 2 && s.bitsPerKey <= mostRibbonBits) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number from 2 to %d for ribbon filters, usually 10", s.bitsPerKey, mostRibbonBits)
	}
	if s.tuning > 0 {
		return nil, errors.New("policy: ribbon filters have no tuning, nor need it: leave it out")
	}
	r := &Ribbon{s, newBloom(s), mostFew}
	for !r.areFew(r.few) {
		r.few--
	}
	return r, nil
}

func (r *Ribbon) self() Policy { return r }
func (r *Ribbon) usable() bool { return r != nil && r.name != "" }

// String returns the policy's settings as [FromString] takes them, such as "ribbon:7".
func (r *Ribbon) String() string { return r.format("ribbon") }

// mostRibbonBits is the largest number of bits per key. Hashes have no more for the columns.
const mostRibbonBits = 40

// NewBuilder returns an empty builder. It costs one small allocation; builders share the memory for
// their keys and return it at Finish. Building takes about 18 bytes per key in large filters of 10
// bits per key, the filter among them.
func (r *Ribbon) NewBuilder() Builder {
	mustBeUsable(r)
	return &ribbonBuilder{Buffer: builder.Buffer[uint64]{Pool: &builder.Chunks64}, ribbon: r}
}

// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must not
// lie in the spare capacity of dst.
func (r *Ribbon) AppendFilter(dst []byte, keys [][]byte) []byte {
	return appendByBuilder(r, dst, keys)
}

// FilterSize returns the size in bytes of a filter of n keys, each counted as often as it is added.
// It panics if n is negative.
func (r *Ribbon) FilterSize(n int) uint64 {
	mustBeUsable(r)
	if size, ok := ribbon.Size(n, r.bitsPerKey); ok {
		return uint64(size)
	}
	if r.areFew(n) {
		return r.exact.FilterSize(n)
	}
	return uint64(len(builder.Replacement))
}

// FPP returns the false-positive probability of a filter of n different keys, of any shape. In
// filters of 9 to 40,000 keys it is within 5 % of the measured rate. It panics if n is negative.
func (r *Ribbon) FPP(n int) float64 {
	switch size := r.FilterSize(n); {
	case r.areFew(n):
		return r.exact.FPP(n)
	case size == uint64(len(builder.Replacement)):
		return 1
	}
	return ribbon.FPP(n, r.bitsPerKey)
}

// areFew reports whether n keys are too few for a ribbon filter. Then their filter is of LevelDB's
// encoding.
func (r *Ribbon) areFew(n int) bool {
	_, ok := ribbon.Size(n, r.bitsPerKey)
	return !ok && n <= r.few
}
