package analysis

import (
	"fmt"
	"math"
)

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

// newRate completes a Rate. Wilson's interval holds the rates p for which Passed/Asked lies within
// z standard errors sqrt(p*(1-p)/Asked) of p; unlike the plain standard error it is sensible when
// none passed.
func newRate(asked, passed int64) Rate {
	if asked == 0 {
		return Rate{}
	}
	const z = 1.96
	n, p := float64(asked), float64(passed)/float64(asked)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n)) / (1 + z*z/n)
	r := Rate{Asked: asked, Passed: passed, Rate: p, Low: middle - half, High: middle + half}
	if passed == 0 {
		r.Low = 0 // and not the error of rounding
	}
	if passed == asked {
		r.High = 1
	}
	return r
}

// clearlyAbove reports whether r is above other by three standard errors of their difference, which
// chance does once in 700 times, and is worth words: twice as much at least, and half a per cent of
// the keys more.
func (r Rate) clearlyAbove(other Rate) bool { return r.isTwice(other, 0.005) }

// isTwice does so with so many of the keys more.
func (r Rate) isTwice(other Rate, more float64) bool {
	if r.Asked == 0 || other.Asked == 0 {
		return false
	}
	n, m := float64(r.Asked), float64(other.Asked)
	p := float64(r.Passed+other.Passed) / (n + m) // of both, if they are the same
	return r.Rate-other.Rate > max(more, 3*math.Sqrt(p*(1-p)*(1/n+1/m))) && r.Rate >= 2*other.Rate
}

// String shows the rate in per cent: its upper bound if none passed.
func (r Rate) String() string {
	if r.Passed == 0 && r.Asked > 0 {
		return "less than " + percent(r.High)
	}
	return percent(r.Rate)
}

// percent shows a part in per cent, with two digits or three.
func percent(part float64) string {
	switch p := 100 * part; {
	case p >= 10 || p == 0:
		return fmt.Sprintf("%.3g %%", p)
	default:
		return fmt.Sprintf("%.2g %%", p)
	}
}
