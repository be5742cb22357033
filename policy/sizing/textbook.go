package sizing

import (
	"fmt"
	"math"
)

// Rounding is how a number of bits and a number of probes become whole.
type Rounding int

const (
	// Up takes ceilings of both, as steakknife/bloomfilter does. It is the zero value.
	Up Rounding = iota
	// Guava takes the floor of the bits and the nearest number of probes, as Guava and Redisson do.
	Guava
)

// FPP returns the false-positive probability of a Bloom filter of n keys in m bits with k probes
// per key, (1 - e^(-kn/m))^k (Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors",
// 1970, in the usual approximation; Mitzenmacher and Upfal, "Probability and Computing", 5.5.3).
// Keys and bits are more than 0, and k is 1 or more.
func FPP(n, m float64, k int) (float64, error) {
	if err := check(positive("keys", n), positive("bits", m), positive("probes", k)); err != nil {
		return 0, err
	}
	return math.Pow(-math.Expm1(-float64(k)*n/m), float64(k)), nil
}

// Bits returns how many bits a Bloom filter of n keys needs for a probability of false positives p,
// with the best number of probes: m = -n ln p / (ln 2)^2 (Broder and Mitzenmacher, "Network
// Applications of Bloom Filters", 2004, section 2.2). p is above 0 and below 1. It returns an error
// above 2^53 bits, where a float64 is not exact any more.
func Bits(n, p float64, r Rounding) (uint64, error) {
	b, err := BitsPerKey(p)
	if err := check(err, positive("keys", n)); err != nil {
		return 0, err
	}
	m := n * b
	if m > 1<<53 {
		return 0, fmt.Errorf("sizing: %v keys at %v take %.3g bits, more than 2^53: "+
			"divide the keys among filters", n, p, m)
	}
	if r == Guava {
		return uint64(m), nil
	}
	return uint64(math.Ceil(m)), nil
}

// Probes returns the best number of probes for n keys in m bits, k = m/n * ln 2 and at least 1
// (Bloom 1970; Broder and Mitzenmacher 2004, section 2.2).
func Probes(m, n float64, r Rounding) (int, error) {
	if err := check(positive("keys", n), positive("bits", m)); err != nil {
		return 0, err
	}
	k := m / n * math.Ln2
	if k > math.MaxInt32 {
		return 0, fmt.Errorf("sizing: %v bits for %v keys would have %.3g probes: pass fewer bits",
			m, n, k)
	}
	if r == Guava {
		return max(1, int(math.Round(k))), nil
	}
	return int(math.Ceil(k)), nil
}

// BitsPerKey returns how many bits per key a Bloom filter needs for a probability of false
// positives p, above 0 and below 1: -ln p / (ln 2)^2, which is 1.44 log2(1/p). No filter of any
// kind has less than log2(1/p) (Carter, Floyd, Gill, Markowsky and Wegman, "Exact and Approximate
// Membership Testers", 1978).
func BitsPerKey(p float64) (float64, error) {
	if !(p > 0 && p < 1) { // a NaN fails every comparison
		return 0, fmt.Errorf("sizing: a false-positive rate of %v: "+
			"pass a number above 0 and below 1, such as 0.01", p)
	}
	return -math.Log(p) / (math.Ln2 * math.Ln2), nil
}

// Keys estimates how many different keys a Bloom filter has if set of its m bits are set, with k
// probes per key: -m/k ln(1 - set/m) (Swamidass and Baldi, "Mathematical Correction for Fingerprint
// Similarity Measures", 2007; Guava's approximateElementCount). It is +Inf if all bits are set.
// For a filter of package policy, use Info.Estimate.
func Keys(set, m float64, k int) (float64, error) {
	if err := checkSet(set, m, k); err != nil {
		return 0, err
	}
	return -m / float64(k) * math.Log1p(-set/m), nil
}

// FPPOfSet returns the probability that all k probes of an absent key are among the set bits of m:
// (set/m)^k (Guava's expectedFpp). For a filter of package policy, use Info.Estimate.
func FPPOfSet(set, m float64, k int) (float64, error) {
	if err := checkSet(set, m, k); err != nil {
		return 0, err
	}
	return math.Pow(set/m, float64(k)), nil
}

func checkSet(set, m float64, k int) error {
	if err := check(positive("bits", m), positive("probes", k)); err != nil {
		return err
	}
	if !(set >= 0 && set <= m) {
		return fmt.Errorf("sizing: %v of %v bits are set: pass 0 to all of them", set, m)
	}
	return nil
}

// positive returns an error if x is not a number above 0.
func positive[T int | float64](what string, x T) error {
	if x > 0 && !math.IsInf(float64(x), 1) {
		return nil
	}
	return fmt.Errorf("sizing: %v %s: pass a number above 0", x, what)
}

// check returns the first error.
func check(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
