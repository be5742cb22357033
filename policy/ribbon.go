package policy

import "errors"

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
// [Policy.FPP] returns the rate for other numbers, and [BitsFor] the bits for a rate. Besides its
// bits, a filter takes 4 bytes, and 8 from 701 keys on. With fractions of a bit, it may take less
// for up to 700 keys, whose sizes then do not always grow with their number. A filter of 1 to 7
// keys is as large as one of 8, and at least 12 bytes. For no keys it is LevelDB's empty filter. A
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
	if err := checkBits(bitsPerKey, leastRibbonBits, mostRibbonBits); err != nil {
		return nil, err
	}
	p, err := newPolicy(true, bitsPerKey, opts)
	if err == nil && p.setting.Tuned {
		return nil, errors.New("policy: ribbon filters need no tuning: leave it out")
	}
	return p, err
}

// Hashes have no more bits for the columns than 40.
const leastRibbonBits, mostRibbonBits = 2, 40
