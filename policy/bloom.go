package policy

import "fmt"

// NewBloom returns LevelDB's Bloom filter policy with the given number of bits per key, from 1 to
// 1000. LevelDB's usual choice is 10. For a whole number, its filters are exactly those of C++
// LevelDB. Fractions are allowed: 9.5 gives ceil(9.5*n) bits for n keys.
//
// False-positive rate in percent with n random keys in a filter, and the size of a filter of 1,000
// keys:
//
//	bits per key    n = 20    1,000      100,000    1,000,000    bytes of 1,000
//	6               6.98      6.17       8.50       8.47         751
//	8               2.67      2.24       3.13       3.18         1001
//	10              1.20      0.874      1.45       1.30         1251
//	14              0.344     0.130      0.183      0.214        1751
//	20              0.112     0.00854    0.0131     0.0395       2501
//
// [Policy.FPP] returns the rate for other numbers, and [BitsFor] the bits for a rate. Dense
// numbers, such as counters, give more false positives: up to 99 % in filters of a few dozen, and
// 10 % with a million. [WithTuning] helps in filters of up to a few thousand; [NewRibbon] always
// helps.
//
// NewBloom returns an error that says what to pass instead if bitsPerKey is out of range or not a
// number, or if an option refuses its argument.
func NewBloom(bitsPerKey float64, opts ...Option) (*Policy, error) {
	if err := checkBits(bitsPerKey, leastBloomBits, mostBloomBits); err != nil {
		return nil, err
	}
	return newPolicy(false, bitsPerKey, opts)
}

// Others are mistakes. Below 1, somebody meant a rate. From 44 bits per key on, k is the largest,
// and most false positives have the very hash of a key, which no number of bits helps.
const leastBloomBits, mostBloomBits = 1, 1000

// checkBits returns an error that says what to do if a number of bits per key is out of range.
func checkBits(bitsPerKey, least, most float64) error {
	if bitsPerKey >= least && bitsPerKey <= most { // a NaN fails every comparison
		return nil
	}
	return fmt.Errorf("policy: %v bits per key: pass a number from %v to %v, usually 10; "+
		"for a rate of false positives, BitsFor returns one", bitsPerKey, least, most)
}
