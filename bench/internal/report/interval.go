package report

import "math"

// Z95 is how many standard errors an interval of 95 % has on each side.
const Z95 = 1.96

// Wilson returns the rate p of n answers with its score interval of z standard errors ("Probable
// Inference, the Law of Succession, and Statistical Inference", 1927). It is never empty: 300 equal
// answers leave an interval as well.
func Wilson(p, n, z float64) Figure {
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	f := Figure{Middle: p, High: min(1, (middle+half)/(1+z*z/n))}
	if p > 0 { // otherwise it is 0, but for rounding
		f.Low = max(0, (middle-half)/(1+z*z/n))
	}
	return f
}
