package ratebench

import (
	"fmt"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A Record is one kind in one cell.
type Record struct {
	Kind           string  `json:"kind" doc:"kind of filter"`
	Shape          string  `json:"shape" doc:"shape of the keys"`
	Density        string  `json:"density" doc:"which keys of a range are present"`
	N              int     `json:"n" doc:"keys per filter"`
	Bits           float64 `json:"bits" doc:"bits per key asked for"`
	FilterBytes    float64 `json:"filter_bytes" doc:"bytes of a filter, a mean"`
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
		rate := result.Rate
		record := Record{
			Kind: result.Kind.Name, Shape: result.Shape.Name, Density: result.Density.Name,
			N: result.N, Bits: result.Bits, FilterBytes: result.Size,
			Filters: rate.Filters, Queries: rate.Queries, FalsePositives: rate.FalsePositives,
			FPR: rate.Mean(),
		}
		record.Bound, _ = result.Kind.Bound(result.Bits, result.N)
		record.Low, record.High = rate.Interval(z95)
		records = append(records, record)
	}
	r.Records = records
	for _, bits := range o.Bits {
		if t := o.table(bits); len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	r.Notes = append(r.Notes, "A cell is a shape of keys with a density: the part of a range of "+
		"keys that is present, or \"beyond\" if absent keys follow the range. Its rate is the "+
		"mean over filters of different keys, with its 95 % interval in brackets. The worst of "+
		"many cells is partly chance. All kinds have the same keys and are asked the same absent "+
		"keys.")
	for _, k := range o.Kinds {
		all, broken := o.verdicts(k)
		switch {
		case len(broken) > 0:
			note := fmt.Sprintf("%s: BOUNDS ARE BROKEN by %d of %d rates:",
				k.Name, len(broken), len(all))
			for _, v := range broken {
				note += " " + v.String() + "."
			}
			r.Notes = append(r.Notes, note)
		case len(all) > 0:
			r.Notes = append(r.Notes, fmt.Sprintf("%s: no rate of %d is more than %d standard "+
				"errors above its bound. The closest: %s.", k.Name, len(all), tolerance, all[0]))
		}
	}
}

// table has a row for each number of keys and kind.
func (o *Outcome) table(bits float64) report.Table {
	t := report.Table{
		Title: fmt.Sprintf("False-positive rates in %% at %v bits per key", bits),
		Keys:  2,
		Columns: []string{"keys per filter", "kind", "size, bits per key", "median cell, %",
			"worst cell, %", "worst cell's keys", "bound, %"},
	}
	for _, n := range o.Ns {
		for _, k := range o.Kinds {
			var worst Result
			var means []float64
			for _, r := range o.Results {
				if r.N == n && r.Bits == bits && r.Kind.Name == k.Name {
					if means = append(means, r.Rate.Mean()); r.Rate.Mean() >= worst.Rate.Mean() {
						worst = r
					}
				}
			}
			if len(means) == 0 {
				continue
			}
			low, high := worst.Rate.Interval(z95)
			bound := ""
			if b, ok := k.Bound(bits, n); ok {
				bound = percent(b)
			}
			size := report.Number{Value: 8 * worst.Size / float64(n), Decimals: 2}
			t.Add(n, k.Name, size, percent(report.Median(means)), fmt.Sprintf("%s [%s to %s]",
				percent(worst.Rate.Mean()), percent(low), percent(high)), worst.keys(), bound)
		}
	}
	return t
}

// percent writes a rate in per cent, without the sign.
func percent(rate float64) string {
	decimals := 4
	if rate >= 0.01 {
		decimals = 2
	}
	return fmt.Sprintf("%.*f", decimals, 100*rate)
}
