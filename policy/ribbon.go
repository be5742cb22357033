package policy

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/levelbloom/levelbloom/policy/internal/bloom"
	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/policy/internal/ribbon"
)

// NewRibbon returns the policy with the smallest filters, with the given number of bits per key,
// from 2 to 40. Fractions are allowed. With 10 bits per key its filters have a tenth of the false
// positives of [NewBloom]'s; for the same rate they take a third less memory. The shape of the keys
// does not matter. Building takes longer.
//
// The largest false-positive rate in percent, by the number of keys in a filter, and the size of a
// filter of 1,000. Measured rates exceed it by less than 5 %. No filter of b bits per key can go
// below 2^-b, the limit:
//
//	bits per key    limit      1 to 700    701 to 4,999    from 5,000    bytes of 1,000
//	7               0.781      0.781       0.969           0.881         883
//	10              0.0977     0.0977      0.124           0.112         1258
//	16              0.00153    0.00153     0.00203         0.00182       2008
//
// [Policy.FPP] returns the rate for other numbers. Besides its bits, a filter takes 4 bytes, and 8
// from 701 keys on. With fractions of bits, filters of up to 700 keys may be smaller. A filter of 1
// to 7 keys is as large as one of 8, and at least 12 bytes. A filter of no keys is LevelDB's. A
// filter of more than 2^28 keys excludes nothing.
//
// A filter solves linear equations over GF(2), one for every key and column of bits, by the method
// of Dillinger and Walzer, "Ribbon filter: practically smaller than Bloom and Xor" (2021).
// FORMAT.md specifies the bytes, and package internal/ribbon explains them. Readers other than this
// package, C++ LevelDB and goleveldb among them, answer "may contain" for every key: they read
// more, never less.
//
// NewRibbon returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewRibbon(bitsPerKey float64, opts ...Option) (*Policy, error) {
	if !(bitsPerKey >= 2 && bitsPerKey <= mostRibbonBits) { // a NaN fails every comparison
		return nil, fmt.Errorf("policy: %v bits per key: "+
			"pass a number from 2 to %d for ribbon filters, usually 10", bitsPerKey, mostRibbonBits)
	}
	p, err := newPolicy(true, bitsPerKey, opts)
	if err == nil && p.setting.Tuned {
		return nil, errors.New("policy: ribbon filters need no tuning: leave it out")
	}
	return p, err
}

// mostRibbonBits is the largest number of bits per key. Hashes have no more for the columns.
const mostRibbonBits = 40

type ribbonBuilder struct {
	builder.Buffer[uint64]
	setting *builder.Setting
}

func newRibbonBuilder(s *builder.Setting, distinct bool) *ribbonBuilder {
	return &ribbonBuilder{builder.Buffer[uint64]{Pool: &builder.Chunks64, Distinct: distinct}, s}
}

func (b *ribbonBuilder) Add(key []byte) {
	h := keyHash(key)
	if b.Repeats(h) {
		return
	}
	if b.Full() {
		b.Grow()
	}
	b.Put(h)
}

// A ribbonWork is memory for the construction of a filter.
type ribbonWork struct {
	ribbon.Builder
	parts [][]uint64
}

var ribbonWorks = sync.Pool{New: func() any { return new(ribbonWork) }}

func (b *ribbonBuilder) Finish(dst []byte) []byte {
	var extended []byte
	if b.N > 0 {
		extended = b.write(dst)
	} else {
		extended, _ = bloom.AppendZeros(dst, b.setting, 0)
	}
	return b.Buffer.Finish(extended, len(dst), b.setting, hasAll)
}

// write appends the ribbon filter of the keys to dst, or Replacement if they are too many.
func (b *ribbonBuilder) write(dst []byte) []byte {
	work := ribbonWorks.Get().(*ribbonWork)
	for hashes := range b.All {
		work.parts = append(work.parts, hashes)
	}
	extended, ok := work.Build(dst, work.parts, b.setting.BitsPerKey)
	if !ok {
		extended = append(dst, builder.Replacement...)
	}
	clear(work.parts) // they are other builders' soon
	work.parts = work.parts[:0]
	if b.N <= builder.KeptHashes {
		ribbonWorks.Put(work)
	}
	return extended
}

// hasAll reports whether a ribbon filter has the keys with some hashes. A malformed one has none.
func hasAll(filter []byte, hashes []uint64) bool {
	if _, ok := ribbon.Parse(filter); !ok || filter[len(filter)-1] != ribbon.Encoding {
		return false
	}
	return !slices.ContainsFunc(hashes, func(x uint64) bool { return !ribbon.Contains(filter, x) })
}
