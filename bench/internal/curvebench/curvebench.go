// Package curvebench measures how false-positive rates depend on one thing at a time: on the number
// of keys in a filter of fixed size, on bits per key, and on the number of keys in a filter that is
// sized for them.
//
// It measures as package ratebench does, run by run with other keys, beside what the textbook and
// this module's own formulas say.
package curvebench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

// A View is what rates are measured against.
type View string

const (
	Fill View = "fill" // keys in a filter that is sized for Config.N
	Bits View = "bits" // bits per key, in filters of Config.N keys
	Keys View = "n"    // keys in a filter that is sized for them
)

// Views lists all views.
var Views = []View{Fill, Bits, Keys}

// A Config says what to measure.
type Config struct {
	Views   []View
	Kinds   []kind.Kind
	Shape   keys.Shape
	Density keys.Density
	N       int     // keys that filters are sized for, in Fill and Bits
	Bits    float64 // per key, in Fill and Keys

	Fills  []float64 // parts of N, ascending, in Fill
	AtBits []float64 // in Bits
	AtKeys []int     // in Keys

	Runs     int
	Queries  int     // absent keys that a run asks for each point
	Target   float64 // a rate to compare with, above 0
	Seed     int64   // the same seed gives the same rates
	Progress report.Progress
}

// static returns the names of the kinds whose filters have no room for other numbers of keys than
// they are built of. They are not in Fill.
func (c *Config) static() (names []string) {
	for _, k := range c.Kinds {
		if !k.OneSize {
			names = append(names, k.Name)
		}
	}
	return names
}

// Run measures all views. If ctx ends or a key is lost, it returns what it has, with the error of
// ratebench.Config.Run.
func (c *Config) Run(ctx context.Context) ([]Record, error) {
	var records []Record
	for i, v := range c.Views {
		ofView, err := c.run(ctx, v, i)
		records = append(records, ofView...)
		if err != nil {
			return records, err
		}
	}
	return records, nil
}

// run measures a view, the i-th.
func (c *Config) run(ctx context.Context, v View, i int) (records []Record, err error) {
	rates := c.rates(v)
	if len(rates.Kinds) == 0 {
		return nil, nil
	}
	at := map[point]int{} // index of the record
	for run := range c.Runs {
		c.Progress(i*c.Runs+run, len(c.Views)*c.Runs, fmt.Sprintf("against %s, run %d of %d", v,
			run+1, c.Runs))
		rates.Seed = c.Seed*1_000_003 + int64(run)
		var results []ratebench.Result
		results, err = rates.Run(ctx)
		for _, r := range results {
			p := point{r.Kind.Name, r.N, r.Bits}
			if _, ok := at[p]; !ok {
				record, err := c.newRecord(v, r)
				if err != nil {
					return records, err
				}
				at[p] = len(records)
				records = append(records, record)
			}
			record := &records[at[p]]
			record.Runs = append(record.Runs, Run{r.Rate.FalsePositives, r.Rate.Queries,
				r.Rate.Filters, r.Rate.Mean()})
		}
		if err != nil {
			break
		}
	}
	for i := range records {
		records[i].summarize()
	}
	return records, err
}

// A point is what a record is about in its view.
type point struct {
	kind string
	n    int
	bits float64
}

// rates returns what a run measures.
func (c *Config) rates(v View) ratebench.Config {
	rates := ratebench.Config{
		Kinds: c.Kinds, Shapes: []keys.Shape{c.Shape}, Densities: []keys.Density{c.Density},
		Ns: []int{c.N}, Bits: []float64{c.Bits}, Queries: c.Queries,
		Progress: func(int, int, string) {},
	}
	switch v {
	case Fill:
		rates.Ns, rates.Kinds = nil, nil
		for _, fill := range c.Fills {
			rates.Ns = append(rates.Ns, max(1, int(math.Round(fill*float64(c.N)))))
		}
		rates.Ns = slices.Compact(rates.Ns)
		for _, k := range c.Kinds {
			if !k.OneSize {
				continue
			}
			newPolicy := k.New
			k.New = func(bits float64) (policy.Policy, error) {
				p, err := newPolicy(bits)
				return sized{p, c.N}, err
			}
			rates.Kinds = append(rates.Kinds, k)
		}
	case Bits:
		rates.Bits = c.AtBits
	case Keys:
		rates.Ns = c.AtKeys
	}
	return rates
}
