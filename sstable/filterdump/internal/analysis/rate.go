package analysis

import "math"

// A Rate is how many absent keys passed the filters. All fields are 0 if none was asked for.
type Rate struct {
	Asked  int64   `json:"asked"`
	Passed int64   `json:"passed"`
	Rate   float64 `json:"rate"` // Passed / Asked
	// Low and High bound the rate of all such keys with a confidence of 95 % (Wilson's interval).
	// They take the keys that were asked for as chosen independently of each other.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func newRate(asked, passed int64) Rate {
	if asked == 0 {
		return Rate{}
	}
	r := wilson(float64(passed)/float64(asked), float64(asked))
	r.Asked, r.Passed = asked, passed
	return r
}

// wilson returns the rate p of n keys with its bounds. Wilson's interval holds the rates q for
// which p lies within z standard errors sqrt(q*(1-q)/n) of q; unlike the plain standard error it
// is sensible when none passed.
func wilson(p, n float64) Rate {
	const z = 1.96
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n)) / (1 + z*z/n)
	r := Rate{Rate: p, Low: middle - half, High: middle + half}
	if p == 0 {
		r.Low = 0 // and not the error of rounding
	}
	if p == 1 {
		r.High = 1
	}
	return r
}
