// Package filters measures the false-positive rates of filters outside of any engine. An engine's
// own filters are called as the engine calls them, and levelbloom's as goleveldb does, through the
// adapter. BenchmarkFilters times them.
//
// Rates: a cell is a shape of keys and a number of keys per filter. In each cell every kind builds
// many filters of different keys, and looks up absent keys. All kinds have the same keys. Which
// these are, and how many, depends on the cell and the number of queries alone, never on the
// answers or on what else is measured: a cell always has the same rates.
package filters

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Rate is the false-positive rate of one kind in one cell.
type Rate struct {
	Kind           string  `json:"kind"`            // kind of filter
	Shape          string  `json:"shape"`           // shape of the keys
	N              int     `json:"n"`               // keys per filter
	FilterBytes    float64 `json:"filter_bytes"`    // bytes of a filter, a mean
	Filters        int     `json:"filters"`         // filters built
	Queries        int     `json:"queries"`         // absent keys looked up
	FalsePositives int     `json:"false_positives"` // absent keys that a filter may contain
	FPR            float64 `json:"fpr"`             // false positives per query, 0 to 1
	Low            float64 `json:"fpr_low"`         // lower end of the interval of 95 % (Wilson)
	High           float64 `json:"fpr_high"`        // upper end of the interval
	Bound          float64 `json:"bound"`           // highest rate that the kind promises, or 0

	// Sums over the filters: squares of false positives and of queries, and their products.
	positives2, queries2, products float64
}

// z is how many standard errors an interval of 95 % has on each side.
const z = 1.96

// add adds the answers of a filter of size bytes to the rate, which is that of all answers. The
// interval is the score interval (Wilson, "Probable Inference, the Law of Succession, and
// Statistical Inference", 1927): 300 equal answers leave an interval as well. If filters differ, it
// is the interval of fewer independent answers: their number divided by the design effect, with the
// variance between filters of a ratio of two sums (Cochran, "Sampling Techniques", 1977, 6.4).
func (r *Rate) add(size, queries, falsePositives int) {
	r.Filters++
	r.Queries += queries
	r.FalsePositives += falsePositives
	r.FilterBytes += (float64(size) - r.FilterBytes) / float64(r.Filters)
	r.positives2 += float64(falsePositives) * float64(falsePositives)
	r.queries2 += float64(queries) * float64(queries)
	r.products += float64(falsePositives) * float64(queries)

	n, m := float64(r.Queries), float64(r.Filters)
	p := float64(r.FalsePositives) / n
	binomial := p * (1 - p) / n
	between := (r.positives2 - 2*p*r.products + p*p*r.queries2) / n / n * m / (m - 1)
	if m > 1 && between > binomial {
		n *= binomial / between
	}
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	r.FPR, r.Low, r.High = p, max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
}

// MeasureRates measures the rates of all kinds for each shape and number of keys per filter. In
// each cell it looks up that many absent keys, or a few more. An error wraps keys.ErrLost.
func MeasureRates(kinds []Kind, shapes []keys.Shape, ns []int, queries int,
	progress func(step, total int, what string)) (rates []Rate, err error) {
	for i, n := range ns {
		for j, shape := range shapes {
			cell := fmt.Sprintf("%s, %d keys", shape.Name, n)
			progress(i*len(shapes)+j, len(ns)*len(shapes), cell)
			ofCell, err := measure(cell, kinds, shape, n, queries)
			if err != nil {
				return nil, err
			}
			rates = append(rates, ofCell...)
		}
	}
	return rates, nil
}

// measure measures a cell, of all kinds at once: they share the keys.
func measure(cell string, kinds []Kind, shape keys.Shape, n, queries int) ([]Rate, error) {
	var rates []Rate
	var policies []*Policy
	for _, k := range kinds {
		policies = append(policies, k.New())
		rates = append(rates, Rate{Kind: k.Name, Shape: shape.Name, N: n, Bound: k.Bound(n)})
	}
	hash := fnv.New64a()
	hash.Write([]byte(cell))
	rng := rand.New(rand.NewPCG(1, hash.Sum64()))
	// Large filters differ little from each other, and take long.
	leastFilters := max(2, min(10, 2_000_000/n))
	// Queries of a filter take longer than building it, if there are enough.
	perFilter := max(1, min(max(512, 4*n), queries/leastFilters))
	for built := 0; built < leastFilters || rates[0].Queries < queries; built++ {
		present, absent := shape.Draw(rng, built == 0, n, perFilter)
		slices.SortFunc(present, bytes.Compare) // as an engine adds them
		for i, p := range policies {
			p.Add(present)
			filter := p.Finish(nil)
			if found := p.Count(filter, present); found < n {
				return nil, fmt.Errorf("%v: %w: %d of %d", rates[i], keys.ErrLost, n-found, n)
			}
			rates[i].add(len(filter), len(absent), p.Count(filter, absent))
		}
	}
	return rates, nil
}

// ErrBound is wrapped by the error for a kind that breaks its bounds.
var ErrBound = errors.New("a false-positive rate breaks its bound")

// CheckBounds returns an error if a rate is more than five standard errors above the bound that its
// kind promises: a run has thousands of rates, and by chance some are three above.
func CheckBounds(rates []Rate) (err error) {
	for _, r := range rates {
		if r.Bound > 0 && r.FPR > r.Bound+5*(r.FPR-r.Low)/z {
			err = errors.Join(err, fmt.Errorf("%w: %v: %.3g %% (%.3g to %.3g), not %.3g %%", ErrBound,
				r, 100*r.FPR, 100*r.Low, 100*r.High, 100*r.Bound))
		}
	}
	return err
}

// Report returns a report of rates.
func Report(rates []Rate) *report.Report {
	return &report.Report{Records: rates, Table: RateTable(rates), Notes: []string{
		"A rate is the mean over filters of different keys, with an interval of 95 %. All kinds " +
			"have the same present and absent keys."}}
}

// RateTable returns a table with a row for each kind and shape, and a column for each number of
// keys. Rows below have the bits per key as filters take them, and the bounds.
func RateTable(rates []Rate) report.Table {
	t := report.Table{Keys: 2, Columns: []string{"filter", "keys"},
		Title: "False positives in %, and filters' bits per key, by number of keys per filter"}
	rates = slices.Clone(rates)
	slices.SortStableFunc(rates, func(a, b Rate) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, r := range rates {
		t.Set(fmt.Sprint(r.N), r.interval(), r.Kind, r.Shape)
	}
	for _, r := range rates {
		t.Set(fmt.Sprint(r.N), fmt.Sprintf("%.2f", r.bitsPerKey()), r.Kind, "bits per key")
		if r.Bound > 0 {
			t.Set(fmt.Sprint(r.N), report.Digits(100*r.Bound), r.Kind, "bound")
		}
	}
	return t
}

func (r Rate) String() string {
	return fmt.Sprintf("%s, %d %s keys", r.Kind, r.N, r.Shape)
}

// bitsPerKey returns those that the filters take.
func (r Rate) bitsPerKey() float64 { return 8 * r.FilterBytes / float64(r.N) }

// interval writes the rate in per cent, and how far its interval goes.
func (r Rate) interval() string {
	if r.FPR == 0 {
		return "below " + report.Digits(100*r.High)
	}
	return fmt.Sprintf("%.3g ±%.0f%%", 100*r.FPR, 100*max(r.High/r.FPR-1, 1-r.Low/r.FPR))
}
