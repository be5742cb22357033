package filters

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Rate is the false-positive rate of one kind in one cell.
type Rate struct {
	Kind           string  `json:"kind"`            // kind of filter
	Shape          string  `json:"shape"`           // shape of the keys
	N              int     `json:"n"`               // keys per filter
	Bits           float64 `json:"bits"`            // bits per key, as configured
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

// MeasureRates measures the rates of all kinds for each shape and number of keys per filter, on as
// many processors as there are. In each cell it looks up that many absent keys, or a few more. The
// error is context.Cause if ctx ends, or wraps keys.ErrLost; with it come the rates of the cells
// that were finished.
func MeasureRates(ctx context.Context, kinds []Kind, shapes []keys.Shape, ns []int,
	queries int, progress report.Progress) ([]Rate, error) {
	rates := make([][]Rate, len(ns)*len(shapes))
	cells, ctx := errgroup.WithContext(ctx)
	cells.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < len(rates) && ctx.Err() == nil; i++ {
		n, shape := ns[i/len(shapes)], shapes[i%len(shapes)]
		cell := fmt.Sprintf("%s, %d keys", shape.Name, n)
		progress(i, len(rates), cell)
		cells.Go(func() (err error) {
			rates[i], err = measure(ctx, cell, kinds, shape, n, queries)
			return err
		})
	}
	cause := context.Cause(ctx) // Wait ends ctx
	err := cmp.Or(cells.Wait(), cause)
	return slices.Concat(rates...), err
}

// measure measures a cell, of all kinds at once: they share the keys.
func measure(ctx context.Context, cell string, kinds []Kind, shape keys.Shape, n, queries int) (
	rates []Rate, err error) {
	var policies []*Policy
	for _, k := range kinds {
		policies = append(policies, k.New())
		rates = append(rates, Rate{Kind: k.Name, Shape: shape.Name, N: n, Bits: k.Bits,
			Bound: k.Bound(n)})
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
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
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
			err = errors.Join(err, fmt.Errorf("%w: %v: %s %%, not %s %%", ErrBound, r, r.interval(),
				Percent(r.Bound)))
		}
	}
	return err
}

// ReportRates fills in the rates, a note, and the tables.
func ReportRates(r *report.Report, rates []Rate) {
	r.Records, r.Tables = rates, RateTables(rates)
	r.Notes = append(r.Notes, "A rate is the mean over filters of different keys, with an interval "+
		"of 95 %. The worst of several shapes is partly chance. The limit is that of information: 2 "+
		"to the power of minus the bits per key that a filter really takes. All kinds have the same "+
		"present and absent keys.")
}

// RateTables returns a table for each number of bits per key, with a row for each number of keys
// and kind.
func RateTables(rates []Rate) (all []report.Table) {
	for _, ofBits := range groups(rates, func(r Rate) any { return r.Bits }) {
		t := report.Table{Keys: 2, Columns: []string{"keys per filter", "kind", "bits per key",
			"worst shape, %", "which", "bound, %", "mean / limit"},
			Title: fmt.Sprintf("False-positive rates in %% at %v bits per key", ofBits[0].Bits)}
		for _, rows := range groups(ofBits, func(r Rate) any { return [2]any{r.N, r.Kind} }) {
			mean, worst, bound := 0.0, rows[0], ""
			for _, r := range rows {
				mean += r.FPR / float64(len(rows))
				if r.FPR > worst.FPR {
					worst = r
				}
			}
			if worst.Bound > 0 {
				bound = Percent(worst.Bound)
			}
			bits := 8 * worst.FilterBytes / float64(worst.N)
			t.Add(worst.N, worst.Kind, fmt.Sprintf("%.2f", bits), worst.interval(), worst.Shape,
				bound, report.Digits(mean/math.Exp2(-bits))+"x")
		}
		all = append(all, t)
	}
	return all
}

func (r Rate) String() string {
	return fmt.Sprintf("%s, %d %s keys, %v bits per key", r.Kind, r.N, r.Shape, r.Bits)
}

func (r Rate) interval() string {
	return Percent(r.FPR) + " ±" + report.Digits(100*max(r.High-r.FPR, r.FPR-r.Low))
}

// Percent writes a rate in per cent, without the sign.
func Percent(rate float64) string {
	if rate >= 0.01 {
		return fmt.Sprintf("%.2f", 100*rate)
	}
	return fmt.Sprintf("%.4f", 100*rate)
}

// groups returns the records with the same key together, in the records' order.
func groups[R any](records []R, key func(R) any) (all [][]R) {
	for _, r := range records {
		i := slices.IndexFunc(all, func(group []R) bool { return key(group[0]) == key(r) })
		if i < 0 {
			i, all = len(all), append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}
