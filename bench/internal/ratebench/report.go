package ratebench

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record is one kind in one cell.
type Record struct {
	Kind           string  `json:"kind" doc:"kind of filter"`
	Shape          string  `json:"shape" doc:"shape of the keys"`
	Density        string  `json:"density" doc:"which keys of a range are present"`
	N              int     `json:"n" doc:"keys per filter"`
	Bits           float64 `json:"bits" doc:"bits per key asked for"`
	FilterBytes    int     `json:"filter_bytes" doc:"bytes of a filter"`
	Filters        int     `json:"filters" doc:"filters built"`
	Queries        int     `json:"queries" doc:"absent keys asked"`
	FalsePositives int     `json:"false_positives" doc:"absent keys that a filter may contain"`
	FPR            float64 `json:"fpr" doc:"false positives per query, 0 to 1"`
	Low            float64 `json:"fpr_low" doc:"lower end of the interval of 95 % (Wilson)"`
	High           float64 `json:"fpr_high" doc:"upper end of the interval"`
	Bound          float64 `json:"bound" doc:"highest rate that the kind promises here, 0 if none"`
}

// Report fills in the records, the tables and the notes.
func (o *Outcome) Report(r *report.Report) {
	var records []Record
	for _, result := range o.Results {
		for i, k := range o.Kinds {
			rate := result.Rates[i]
			record := Record{
				Kind: k.Name, Shape: result.Shape.Name, Density: result.Density.Name,
				N: result.N, Bits: result.Bits, FilterBytes: result.Sizes[i],
				Filters: rate.Filters, Queries: rate.Queries, FalsePositives: rate.FalsePositives,
				FPR: rate.Mean(),
			}
			record.Low, record.High = rate.Interval(z95)
			if bound := o.lowest(i, result); !math.IsNaN(bound) {
				record.Bound = bound
			}
			records = append(records, record)
		}
	}
	r.Records = records
	for _, bits := range o.Bits {
		if t := o.table(bits); len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	r.Notes = append(r.Notes, "A cell is a shape of keys with a density, at a number of keys per "+
		"filter. "+
		"Its rate is the mean over filters of different keys, [interval of 95 %]. The worst of "+
		"many "+
		"cells is partly chance. Every kind has the same keys and is asked the same absent ones.")
	for i, k := range o.Kinds {
		if note := o.boundNote(i); note != "" {
			r.Notes = append(r.Notes, k.Name+": "+note)
		}
	}
	if _, leftOut := o.Cells(); leftOut > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("Left out: %d cells, whose shape does not have so "+
			"many keys.", leftOut))
	}
}

// table has a row for each number of keys and kind.
func (o *Outcome) table(bits float64) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("False-positive rates in %% at %v bits per key", bits),
		Keys:  2,
		Columns: []string{"keys per filter", "kind", "bits per key", "median cell", "worst cell",
			"its keys", "bound"},
	}
	for _, n := range o.Ns {
		cells := slices.DeleteFunc(slices.Clone(o.Results), func(r Result) bool {
			return r.N != n || r.Bits != bits
		})
		if len(cells) == 0 {
			continue
		}
		for i, k := range o.Kinds {
			var means []float64
			for _, result := range cells {
				means = append(means, result.Rates[i].Mean())
			}
			worst := slices.MaxFunc(cells, func(a, b Result) int {
				return cmp.Compare(a.Rates[i].Mean(), b.Rates[i].Mean())
			})
			rate := worst.Rates[i]
			low, high := rate.Interval(z95)
			t.Add(
				n,
				k.Name,
				report.Number{Value: 8 * float64(worst.Sizes[i]) / float64(n), Decimals: 2},
				percent(report.Median(means)),
				fmt.Sprintf("%s [%s to %s]", percent(rate.Mean()), percent(low), percent(high)),
				worst.keys(),
				percent(o.lowest(i, cells[0])),
			)
		}
	}
	return t
}

// boundNote says whether kind i keeps its bounds.
func (o *Outcome) boundNote(i int) string {
	all, unlimited := o.verdicts(i)
	if len(all) == 0 {
		return ""
	}
	broken := slices.DeleteFunc(slices.Clone(all), func(v verdict) bool { return !v.broken() })
	note := fmt.Sprintf("all %d rates are within their bounds or at most %d standard errors "+
		"above; the "+
		"nearest: %s.", len(all), tolerance, furthest(all))
	if len(broken) > 0 {
		note = fmt.Sprintf("BOUNDS ARE BROKEN by %d of %d rates:", len(broken), len(all))
		for _, v := range broken {
			note += " " + v.String() + "."
		}
	}
	if unlimited > 0 {
		note += fmt.Sprintf(" %d cells have no bound.", unlimited)
	}
	return note
}

// percent writes a rate in per cent, without the sign.
func percent(rate float64) string {
	switch {
	case math.IsNaN(rate):
		return ""
	case rate >= 0.01:
		return fmt.Sprintf("%.2f", 100*rate)
	}
	return fmt.Sprintf("%.4f", 100*rate)
}
