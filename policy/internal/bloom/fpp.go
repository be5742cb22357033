package bloom

import (
	"math"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

const (
	enoughFound  = 1 << 16 // false positives: their number has a standard error of 0.4 %
	mostLookups  = 1 << 24 // of absent hashes
	perKey       = 8       // absent hashes per key of a simulated filter
	mostProbes   = 1 << 25 // probes of the keys of a simulated filter
	mostSimBytes = 1 << 23 // bytes of a simulated filter
)

// FPP returns the false-positive probability of a filter of n different keys whose hashes are like
// random numbers. It is deterministic: the seed is fixed. It panics if n is negative.
//
// The probes of a key are an arithmetic progression h, h+d, h+2d, ... modulo 2^32, then modulo the
// number of bits, m. d is h rotated, and that is 2^15*h modulo 2^32-1 = 3 * 5 * 17 * 257 * 65537.
// They are far from random in four ways, and the textbook's formula knows none of them:
//
//   - Probes of one key coincide, if s*d = w*2^32 modulo m for some small s and w.
//   - Two keys with the same d modulo m share most of their probes.
//   - If 3 or 5 divides m, some of the probes prefer some remainders.
//   - Probe 2 takes only 196,606 values: if h is a*2^17 + b, the probe is (2a + b) * 65537. Some
//     bits of a large filter are therefore much more likely to be set than others. With 100,000
//     keys, the bit of a random probe 2 is set with a probability of 0.7 and with a million keys of
//     0.99: one of the k probes is wasted.
//
// Therefore FPP simulates: it builds filters of random hashes, and looks up other random hashes.
// For filters that are too large to simulate, it uses a formula that knows the last of the four.
func FPP(s *builder.Setting, n int) float64 {
	size, k, keys := Size(s, n)-1, K(s), float64(n)
	switch {
	case n == 0:
		return 0
	case size > mostSimBytes || keys*float64(k) > mostProbes:
		filled, scarce := fill(8*float64(size), k, keys)
		return withSameHash(keys, math.Pow(filled, float64(k-1))*scarce)
	}
	rng := rand.New(rand.NewPCG(uint64(n), size<<8|uint64(k)))
	filter := make([]byte, size+1)
	bits := NewBits(filter)
	found, lookups := 0, 0
	for found < enoughFound && lookups < mostLookups {
		clear(filter)
		for range n {
			setProbes(filter, bits.modulus, []uint32{rng.Uint32()}, k)
		}
		for end := lookups + perKey*n; lookups < end && found < enoughFound; lookups++ {
			if bits.Contains(rng.Uint32(), k) {
				found++
			}
		}
	}
	return max(float64(found)/float64(lookups), withSameHash(keys, 0))
}

// fill returns the part of m bits that n keys with random hashes set on average, and the
// probability that a random probe 2 (if there is none, any other) finds its bit set.
func fill(m float64, k int, n float64) (filled, scarce float64) {
	ordinary := k // probes that are like random ones
	if k > 2 {
		ordinary--
	}
	unset := math.Exp(n * float64(ordinary) * math.Log1p(-1/m))
	if ordinary == k {
		return 1 - unset, 1 - unset
	}
	// A Poisson-distributed number of the values lies on each bit, with the mean scarceValues/m.
	// The bit of a random probe has one more, the probe's own. The bit is unset if no key took any
	// of them.
	const scarceValues = 1 << 17 // the values of probe 2, if they were equally likely
	untaken := math.Exp(-n / scarceValues)
	unset *= math.Exp(-scarceValues / m * (1 - untaken))
	return 1 - unset, 1 - unset*untaken
}

// withSameHash adds to an FPP the absent keys that have the 32-bit hash of one of the filter's n
// keys: they are always false positives.
func withSameHash(n, fpp float64) float64 {
	same := -math.Expm1(-n / (1 << 32))
	return same + (1-same)*fpp
}
