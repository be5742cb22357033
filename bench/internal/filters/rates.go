package filters

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Rate is the false-positive rate of one kind in one cell.
type Rate struct {
	Kind           string  `json:"kind"`            // kind of filter
	Shape          string  `json:"shape"`           // shape of the keys
	Density        string  `json:"density"`         // which keys of a range are present
	N              int     `json:"n"`               // keys per filter
	Bits           float64 `json:"bits"`            // bits per key, as configured
	FilterBytes    float64 `json:"filter_bytes"`    // bytes of a filter, a mean
	Filters        int     `json:"filters"`         // filters built
	Queries        int     `json:"queries"`         // absent keys looked up
	FalsePositives int     `json:"false_positives"` // absent keys that a filter may contain
}

// FPR returns the false positives per query.
func (r Rate) FPR() float64 { return float64(r.FalsePositives) / float64(r.Queries) }

// MeasureRates measures the rates of all kinds for each source and number of keys per filter, on as
// many processors as there are. In each cell it looks up that many absent keys, or a few more. The
// error is context.Cause if ctx ends, or wraps keys.ErrLost; with it come the rates of the cells
// that were finished.
func MeasureRates(ctx context.Context, kinds []Kind, sources []keys.Source, ns []int,
	queries int, progress report.Progress) ([]Rate, error) {
	rates := make([][]Rate, len(ns)*len(sources))
	cells, ctx := errgroup.WithContext(ctx)
	cells.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < len(rates) && ctx.Err() == nil; i++ {
		n, source := ns[i/len(sources)], sources[i%len(sources)]
		cell := fmt.Sprintf("%s %s, %v keys", source.Shape.Name, source.Density.Name, n)
		progress(i, len(rates), cell)
		cells.Go(func() (err error) {
			rates[i], err = measure(ctx, cell, kinds, source, n, queries)
			return err
		})
	}
	cause := context.Cause(ctx) // Wait ends ctx
	err := cmp.Or(cells.Wait(), cause)
	return slices.Concat(rates...), err
}

// measure measures a cell, of all kinds at once: they share the keys.
func measure(ctx context.Context, cell string, kinds []Kind, source keys.Source, n, queries int) (
	rates []Rate, err error) {
	var policies []*Policy
	for _, k := range kinds {
		policies = append(policies, k.New())
		rates = append(rates, Rate{Kind: k.Name, Shape: source.Shape.Name,
			Density: source.Density.Name, N: n, Bits: k.Bits})
	}
	hash := fnv.New64a()
	hash.Write([]byte(cell))
	rng := rand.New(rand.NewPCG(1, hash.Sum64()))
	// Large filters differ little from each other, and take long.
	leastFilters := max(2, min(10, 2_000_000/n))
	// Queries of a filter take longer than building it, if there are enough.
	perFilter := max(1, min(max(512, 4*n), queries/leastFilters))
	for built := 0; built < leastFilters || rates[0].Queries < queries; built++ {
		present, absent := source.Draw(rng, built == 0, n, perFilter)
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
			r := &rates[i]
			r.Filters++
			r.FilterBytes += (float64(len(filter)) - r.FilterBytes) / float64(r.Filters)
			r.Queries += len(absent)
			r.FalsePositives += p.Count(filter, absent)
		}
	}
	return rates, nil
}

// ReportRates fills in the rates, a note, and the tables.
func ReportRates(r *report.Report, rates []Rate) {
	r.Records, r.Tables = rates, RateTables(rates)
	r.Notes = append(r.Notes, "A cell is a shape of keys with a density (see -h). Its rate is the "+
		"mean over filters of different keys. The worst of many cells is partly chance. The limit "+
		"is that of information: 2 to the power of minus the bits per key that a filter really "+
		"takes. All kinds have the same present and absent keys.")
}

// RateTables returns a table for each number of bits per key, with a row for each number of keys
// and kind.
func RateTables(rates []Rate) (all []report.Table) {
	for _, ofBits := range groups(rates, func(r Rate) any { return r.Bits }) {
		t := report.Table{Keys: 2, Columns: []string{"keys per filter", "kind", "bits per key",
			"median cell, %", "worst cell, %", "worst cell's keys", "mean / limit"},
			Title: fmt.Sprintf("False-positive rates in %% at %v bits per key", ofBits[0].Bits)}
		for _, cells := range groups(ofBits, func(r Rate) any { return [2]any{r.N, r.Kind} }) {
			fprs, mean, worst := []float64{}, 0.0, cells[0]
			for _, r := range cells {
				fprs = append(fprs, r.FPR())
				mean += r.FPR() / float64(len(cells))
				if r.FPR() > worst.FPR() {
					worst = r
				}
			}
			bits := 8 * worst.FilterBytes / float64(worst.N)
			t.Add(worst.N, worst.Kind, fmt.Sprintf("%.2f", bits), Percent(report.Median(fprs)),
				Percent(worst.FPR()), worst.keys(), report.Digits(mean/math.Exp2(-bits))+"x")
		}
		all = append(all, t)
	}
	return all
}

func (r Rate) String() string {
	return fmt.Sprintf("%s, %d %s keys, %v bits per key", r.Kind, r.N, r.keys(), r.Bits)
}

// keys names the keys without their number.
func (r Rate) keys() string { return strings.TrimSuffix(r.Shape+" "+r.Density, " any") }

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
