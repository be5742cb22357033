package rate

import "math"

// Textbook returns the FPP of a Bloom filter of n keys in m bits with k random, independent probes
// per key (Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970).
func Textbook(n, m float64, k int) float64 {
	return math.Pow(-math.Expm1(-float64(k)*n/m), float64(k))
}

// withSameHash adds to an FPP the absent keys that have the 32-bit hash of one of the filter's n
// keys: they are always false positives.
func withSameHash(n, fpp float64) float64 {
	same := -math.Expm1(-n / (1 << 32))
	return same + (1-same)*fpp
}
