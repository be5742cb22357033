package rate

import "math"

// The shape of a blocked Bloom filter, as FORMAT.md has it.
const (
	singleBytes = 1280 // payloads up to this size are one line
	lineBytes   = 64   // of larger ones
)

// Blocked returns the rate of a blocked Bloom filter with n different keys. size is the number of
// bytes of its payload, and k is 1 to 255. It takes the probes as random and independent, and
// counts how the keys are distributed over the lines.
func Blocked(size uint64, k, n int) float64 {
	if n <= 0 {
		return 0
	}
	if full(size, n) {
		return 1
	}
	if size <= singleBytes {
		rate := 0.0
		eachLine(8*float64(size), k, func(keys int, all float64) bool {
			rate = all
			return keys < n && all < 1-1e-9
		})
		return rate
	}
	// The number of keys in the line of an absent key is binomially distributed.
	lines := float64(size / lineBytes)
	mean := float64(n) / lines
	last := min(n, int(mean+12*math.Sqrt(mean)+30))
	logBinomial := float64(n) * math.Log1p(-1/lines) // of no key
	rate := 0.0
	eachLine(8*lineBytes, k, func(keys int, all float64) bool {
		logBinomial += math.Log(float64(n-keys+1) / (float64(keys) * (lines - 1)))
		rate += all * math.Exp(logBinomial)
		return keys < last
	})
	return min(1, rate)
}

// eachLine calls f with the probability that a line of so many bits, with 1, 2, ... keys, has all
// k bits of an absent key, until f returns false.
func eachLine(nbits float64, k int, f func(keys int, all float64) bool) {
	// distinct[r] is the probability that k probes have r different places.
	distinct := make([]float64, k+1)
	distinct[0] = 1
	for range k {
		throw(distinct, nbits, nbits)
	}
	// covered[r][i] is the probability that i of r places are set.
	covered := make([][]float64, k+1)
	for r := range covered {
		covered[r] = make([]float64, r+1)
		covered[r][0] = 1
	}
	for keys := 1; ; keys++ {
		all := 0.0
		for r := 1; r <= k; r++ {
			if distinct[r] == 0 {
				continue
			}
			for range k {
				throw(covered[r], float64(r), nbits)
			}
			all += distinct[r] * covered[r][r]
		}
		if !f(keys, all) {
			return
		}
	}
}

// throw updates the probabilities that 0, 1, ... of some places are taken, when another probe falls
// on one of nbits.
func throw(taken []float64, places, nbits float64) {
	for i := len(taken) - 1; i >= 0; i-- {
		p := 0.0
		if i > 0 {
			p = taken[i-1] * (places - float64(i-1)) / nbits
		}
		taken[i] = p + taken[i]*(1-max(0, places-float64(i))/nbits)
	}
}
