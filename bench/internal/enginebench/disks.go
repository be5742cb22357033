package enginebench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// diskTable has a row for each filter on each slow disk.
func (o *Outcome) diskTable() report.Table {
	t := report.Table{
		Title: "Disks: lookups per second, microseconds of a lookup, and reads of table data per " +
			"lookup (small cache, medians over the rounds)",
		Keys: 4, Columns: []string{"engine", "a read waits", "threads", "filter"},
	}
	figures := []struct {
		name     string
		decimals int
		of       func(Pass) float64
	}{
		{"per second", 0, func(p Pass) float64 { return p.PerSecond }},
		{"p50", 0, func(p Pass) float64 { return p.P50 }},
		{"p99", 0, func(p Pass) float64 { return p.P99 }},
		{"p999", 0, func(p Pass) float64 { return p.P999 }},
		{"reads", 2, func(p Pass) float64 { return p.Reads }},
	}
	for _, keys := range []string{Miss, Hit} {
		for _, f := range figures {
			t.Columns = append(t.Columns, keys+", "+f.name)
		}
	}
	for _, e := range o.Engines {
		for _, p := range o.passes() {
			if p.DiskUs == 0 || p.Keys != Miss {
				continue
			}
			for _, contestant := range o.Contestants() {
				row := []any{e.Name, p.disk().String(), p.Threads, contestant}
				for _, keys := range []string{Miss, Hit} {
					p.Keys = keys
					for _, f := range figures {
						value := o.median(e, contestant, p.of(f.of))
						row = append(row, report.Number{Value: value, Decimals: f.decimals})
					}
				}
				if len(o.of(e, contestant)) > 0 {
					t.Add(row...)
				}
			}
		}
	}
	return t
}

// breakEven returns from how many microseconds of a read on a miss takes less time with filter than
// with other, or NaN if it never does.
//
// A miss takes a time of its own, and the reads that it needs. Both are measured on the fastest
// disk; the time is that of the median miss. What two runs of the same filter differ by counts
// against the filter.
func (o *Outcome) breakEven(e engine.Engine, filter, other string) float64 {
	p := o.passes()[0]
	reads := p.of(func(p Pass) float64 { return p.Reads })
	own := p.of(func(p Pass) float64 { return p.P50 - p.Reads*p.DiskUs })
	last := o.Filters[len(o.Filters)-1]
	noise := math.Abs(o.compare(e, last+Again, last, own, minus).Middle)
	saved := o.median(e, other, reads) - o.median(e, filter, reads)
	if !(saved > 0) { // or NaN
		return math.NaN()
	}
	return max(0, o.compare(e, filter, other, own, minus).Middle+noise) / saved
}

// breakEvenTable has a row for each filter, and a column for each other one.
func (o *Outcome) breakEvenTable() report.Table {
	t := report.Table{
		Title: "Break-even: from how many microseconds of a read on a miss takes less time with " +
			"the filter of the row than with that of the column; empty: it never does",
		Keys: 2, Columns: append([]string{"engine", "filter"}, o.Filters...),
	}
	for _, e := range o.Engines {
		for _, filter := range o.Filters {
			row := []any{e.Name, filter}
			for _, other := range o.Filters {
				row = append(row, report.Number{Value: o.breakEven(e, filter, other), Decimals: 1})
			}
			if filter != engine.None && len(o.of(e, filter)) > 0 {
				t.Add(row...)
			}
		}
	}
	return t
}

// breakEvens returns a line for each engine: from which latency on each filter pays, instead of the
// one that leaves the next more reads. It has none for an engine with filters in vain.
func (o *Outcome) breakEvens() (lines []string) {
	reads := o.passes()[0].of(func(p Pass) float64 { return p.Reads })
	for _, e := range o.Engines {
		if slices.ContainsFunc(o.Filters, func(filter string) bool {
			_, _, inVain := o.readsPerMiss(e, filter)
			return inVain
		}) {
			continue
		}
		filters := slices.Clone(o.Filters)
		slices.SortStableFunc(filters, func(a, b string) int {
			return cmp.Compare(o.median(e, b, reads), o.median(e, a, reads))
		})
		var steps []string
		for i, filter := range filters[1:] {
			if from := o.breakEven(e, filter, filters[i]); !math.IsNaN(from) {
				steps = append(steps, fmt.Sprintf("%s instead of %s from %.1f us", filter,
					filters[i], from))
			}
		}
		if len(steps) > 0 {
			lines = append(lines, fmt.Sprintf("Filters pay from these read latencies on, %s with "+
				"%s keys: %s.", e.Name, o.Keys.Shape().Name, strings.Join(steps, "; ")))
		}
	}
	return lines
}
