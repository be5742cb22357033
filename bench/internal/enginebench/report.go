package enginebench

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Outcome is what Run measured.
type Outcome struct {
	*Config
	Runs Runs
}

// Report fills in the records, the tables and the notes.
func (o *Outcome) Report(r *report.Report) {
	r.SetRecords(o.Runs)
	r.Tables = []report.Table{o.lookups(), o.filters()}
	cache := "all filters and a part of the data"
	if o.Cached {
		cache = "all of the data"
	}
	r.Notes = append(r.Notes, fmt.Sprintf("A miss looks up an absent key between the present "+
		"keys, a hit a present key, and a rewritten key also has an older version in a lower "+
		"level. Reads are of table data, per lookup. The block cache (%.1f MB, besides memtables) "+
		"has room for %s. Files are in the operating system's cache; a read waits %v besides. Load "+
		"includes flushes and compactions, and waits for no read.", float64(o.Cache())/1e6, cache,
		o.Disk),
		"Checks and false positives, which are needless reads, are counted apart from the timed "+
			"passes. They depend on the keys' shape, their density and the number of keys per filter. "+
			engine.BuiltIn+" is the engine's own filter, "+engine.RibbonSmall+" has 7 bits per key.")
	for _, run := range o.Runs {
		if run.Contestant != engine.None && run.BetweenChecks == 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("WARNING: %s, %s, round %d: NO FILTER WAS EVER "+
				"ASKED for absent keys: the speed says nothing about filters", run.Engine,
				run.Contestant, run.Round))
		}
	}
}

// A column of a table has a cell for the runs of each contestant.
type column struct {
	name string
	cell func(Runs) any
}

// table has a row for each contestant in each engine, but for some.
func (o *Outcome) table(title string, leftOut []string, columns []column) report.Table {
	t := report.Table{Title: title, Keys: 2, Columns: []string{"engine", "filter"}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.name)
	}
	for _, first := range o.Runs { // the first round is in order
		if first.Round > 1 || slices.Contains(leftOut, first.Contestant) {
			continue
		}
		runs := o.Runs.Of(first.Engine, first.Contestant)
		row := []any{first.Engine, first.Contestant}
		for _, c := range columns {
			row = append(row, c.cell(runs))
		}
		t.Add(row...)
	}
	return t
}

// ratio returns a column of a speed. The first filter has its own, others how many times as much.
func (o *Outcome) ratio(name string, speed func(Run) float64) column {
	return column{name, func(runs Runs) any {
		if runs[0].Contestant == o.Filters[0] {
			return report.Number{Value: runs.Median(speed)}
		}
		return runs.Ratio(o.Runs.Of(runs[0].Engine, o.Filters[0]), speed)
	}}
}

func median(name string, decimals int, figure func(Run) float64) column {
	return column{name, func(runs Runs) any {
		return report.Number{Value: runs.Median(figure), Decimals: decimals}
	}}
}

// lookups is the table of the passes.
func (o *Outcome) lookups() report.Table {
	var columns []column
	add := func(name string, pass func(Run) Pass) {
		columns = append(columns,
			o.ratio(name, func(r Run) float64 { return pass(r).PerSecond }),
			median(name+", reads", 4, func(r Run) float64 { return pass(r).Reads }))
	}
	add("miss", func(r Run) Pass { return r.Miss })
	add("hit", func(r Run) Pass { return r.Hit })
	add("rewritten", func(r Run) Pass { return r.Rewritten })
	title := fmt.Sprintf("Speed if a read takes %v: times as fast as %q in the same engine and "+
		"round (above 1 is faster), median [minimum to maximum]; for %[2]q itself per second",
		o.Disk, o.Filters[0])
	load := o.ratio("load", func(r Run) float64 { return r.Load })
	return o.table(title, nil, append(columns, load))
}

// filters is the table of what filters leave and take.
func (o *Outcome) filters() report.Table {
	leftOut := []string{engine.None, o.Filters[len(o.Filters)-1] + again}
	return o.table("Filters: what they leave, and what they take", leftOut, []column{
		median("checks per miss", 2, func(r Run) float64 {
			return float64(r.BetweenChecks) / float64(r.BetweenLookups)
		}),
		{"false positives, %", func(runs Runs) any { return runs.FPR().Times(100) }},
		{"needless reads per 1,000 misses", func(runs Runs) any { return runs.Needless() }},
		median("keys per filter", 0, func(r Run) float64 { return float64(r.Keys) / float64(r.Filters) }),
		median("bytes per key", 2, BytesPerKey),
	})
}
