package enginebench

import (
	"fmt"
	"strings"

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
	r.Records = o.Runs
	for _, t := range []report.Table{o.lookups(), o.filters(), o.settingsTable()} {
		if len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	cache := "all filters and a part of the data"
	if o.Cached {
		cache = "all of the data"
	}
	r.Notes = append(r.Notes, fmt.Sprintf("A miss looks up an absent key between the present "+
		"keys, a hit a present key, and a rewritten key also has an older version in a lower "+
		"level. Reads are of table data, per lookup. %q marks the second turn of a filter in each "+
		"round: differences as large as between its two rows are noise. The block cache (%.1f MB, "+
		"without memtables) has room for %s. Files are in the operating system's cache; a read waits "+
		"%v longer. Load includes flushes and compactions; its reads do not wait. goleveldb's seek "+
		"compactions are off (WithoutSeekCompactions), unless a row says that they are on.", strings.TrimSpace(again),
		float64(o.Cache())/1e6, cache, o.Disk),
		"Checks and false positives are counted apart from the timed passes, whatever is cached: "+
			"each false positive is a needless read. In the timed passes each key was looked up once "+
			"before, so the blocks of a few false positives are cached. False positives depend on the "+
			"keys' shape, their density and the number of keys per filter. "+
			engine.BuiltIn+" is the engine's own filter, "+engine.RibbonSmall+" has 7 bits per key.")
	for _, run := range o.Runs {
		if run.Contestant != engine.None && run.Round == 0 && run.BetweenChecks == 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("WARNING: %s, %s: NO FILTER WAS EVER CONSULTED for "+
				"absent keys, so the speed says nothing about filters", run.Engine, run.Contestant))
		}
	}
}

// A column of the table of lookups has a cell for the timed runs of each contestant.
type column struct {
	name string
	cell func(Runs) any
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

// lookups is the table of the timed passes.
func (o *Outcome) lookups() report.Table {
	var columns []column
	add := func(name string, pass func(Run) Pass) {
		columns = append(columns,
			o.ratio(name, func(r Run) float64 { return pass(r).PerSecond }),
			column{name + ", reads", func(runs Runs) any {
				reads := runs.Median(func(r Run) float64 { return pass(r).Reads })
				return report.Number{Value: reads, Decimals: 2}
			}})
	}
	add("miss", func(r Run) Pass { return r.Miss })
	add("hit", func(r Run) Pass { return r.Hit })
	add("rewritten", func(r Run) Pass { return r.Rewritten })
	columns = append(columns, o.ratio("load", func(r Run) float64 { return r.Load }))
	t := report.Table{Keys: 2, Columns: []string{"engine", "filter"}, Title: fmt.Sprintf(
		"Speed if a read takes %v: times as fast as %q in the same engine and round (above 1 is "+
			"faster), median [minimum to maximum]; for %[2]q itself per second", o.Disk, o.Filters[0])}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.name)
	}
	for _, first := range o.Runs { // the first round is in order
		if first.Round != 1 {
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

// filters is the table of the filters' false positives and sizes, which are counted.
func (o *Outcome) filters() report.Table {
	t := report.Table{Title: "False positives and memory", Keys: 2,
		Columns: []string{"engine", "filter", "checks per miss", "false positives, %",
			"needless reads per 1,000 misses", "keys per filter", "bytes per key"}}
	for _, r := range o.Runs {
		if r.Round == 0 && r.Contestant != engine.None {
			t.Add(r.Engine, r.Contestant, ratio(r.BetweenChecks, r.BetweenLookups, 2),
				r.FPR().Times(100), r.Needless(), ratio(r.Keys, r.Filters, 0),
				report.Number{Value: r.BytesPerKey(), Decimals: 2})
		}
	}
	return t
}

func ratio(a, b int64, decimals int) report.Number {
	return report.Number{Value: float64(a) / float64(b), Decimals: decimals}
}
