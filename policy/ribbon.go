package policy

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// Ribbon is the policy with the smallest filters. With 10 bits per key they have a tenth of the
// false positives of [Bloom]; for the same rate they take a third less memory. Building them takes
// longer. Get one from [NewRibbon].
//
// A filter solves linear equations over GF(2), one for every key and column of bits, by the method
// of Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor" (2021).
// FORMAT.md has the bytes, and package internal/ribbon explains them.
//
// Readers other than this package, C++ LevelDB and goleveldb among them, answer "may contain" for
// every key: they read more, never less. A Ribbon is immutable and safe for concurrent use.
type Ribbon struct{ common }

var _ Sized = (*Ribbon)(nil)

// NewRibbon returns the ribbon policy with the given number of bits per key, from 2 to 40.
// Fractions are allowed. The shape of the keys does not matter.
//
// This is the largest share of absent keys that are false positives, in per cent, by the number of
// keys in a filter, and the size of a filter of 1,000. Measured rates exceed it by less than 5 %.
// No filter of b bits per key can go below 2^-b, the limit:
//
//	bits per key    limit      1 to 700    701 to 4,999    from 5,000    bytes of 1,000
//	7               0.781      0.781       0.969           0.881         883
//	10              0.0977     0.0977      0.124           0.112         1258
//	16              0.00153    0.00153     0.00203         0.00182       2008
//
// [Ribbon.FPP] returns it for other numbers. Besides its bits, a filter has 4 bytes, and 8 from 701
// keys on. With fractions of bits, filters of up to 700 keys may be smaller. A filter of 1 to 7
// keys is as large as one of 8, and at least 12 bytes. A filter of no keys is LevelDB's. A filter
// of more than 2^28 keys excludes nothing.
//
// It returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewRibbon(bitsPerKey float64, opts ...Option) (*Ribbon, error) {
	c, err := newCommon(bitsPerKey, opts)
	if err != nil {
		return nil, err
	}
	if !(bitsPerKey >= 2 && bitsPerKey <= mostRibbonBits) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number from 2 to %d for ribbon filters, usually 10", bitsPerKey, mostRibbonBits)
	}
	if c.setting.Tuning > 0 {
		return nil, errors.New("policy: ribbon filters need no tuning: leave it out")
	}
	return &Ribbon{c}, nil
}

func (r *Ribbon) self() Policy { return r }
func (r *Ribbon) usable() bool { return r != nil && r.name != "" }

// String returns the policy's settings as [FromString] takes them, such as "ribbon:7".
func (r *Ribbon) String() string { return r.format("ribbon") }

// mostRibbonBits is the largest number of bits per key. Hashes have no more for the columns.
const mostRibbonBits = 40

// NewBuilder returns an empty builder. It costs one small allocation; builders share the memory for
// their keys and return it at Finish. Building takes about 18 bytes per key in large filters of 10
// bits per key, the filter among them (BenchmarkBuildMemory).
func (r *Ribbon) NewBuilder() Builder {
	mustBeUsable(r)
	return &ribbonBuilder{Buffer: builder.Buffer[uint64]{Pool: &builder.Chunks64}, ribbon: r}
}

// AppendFilter appends the filter of keys to dst and returns the extended slice. The keys must not
// lie in the spare capacity of dst.
func (r *Ribbon) AppendFilter(dst []byte, keys [][]byte) []byte {
	return appendByBuilder(r, dst, keys)
}

// FilterSize returns the size in bytes of a filter of n keys. A key added twice counts twice. It
// panics if n is negative.
func (r *Ribbon) FilterSize(n int) uint64 {
	mustBeUsable(r)
	size, ok := ribbon.Size(n, r.setting.BitsPerKey)
	switch {
	case ok:
		return uint64(size)
	case n > 0: // too many
		return uint64(len(builder.Replacement))
	}
	return r.setting.Size(n) // of a filter of no keys, which is LevelDB's
}

// FPP returns the false-positive probability of a filter of n different keys, of any shape. With up
// to 20 bits per key it is within 5 % of the measured rate. It panics if n is negative.
func (r *Ribbon) FPP(n int) float64 {
	size := r.FilterSize(n)
	switch {
	case n == 0:
		return 0
	case size == uint64(len(builder.Replacement)):
		return 1
	}
	return ribbon.FPP(n, r.setting.BitsPerKey)
}
