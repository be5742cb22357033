package enginebench

import (
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Outcome is what Run measured.
type Outcome struct {
	*Config
	Runs Runs
}

// PebbleRules is what owners of Pebble need to know: which lookups ask filters in L6, and how large
// the block cache must be.
const PebbleRules = engine.RibbonL6 + " has filters in Pebble's L6 too, which the adapter's Has " +
	"and Get ask and the engine's own Get does not. Pebble keeps filters in its block cache, and takes " +
	"the memory of memtables out of it: give it 2 x MemTableSize + 2 x the bytes of the filters + " +
	"what the data need (CheckCache of the adapter compares them)."

// Report fills in the records, the tables and the notes.
func (o *Outcome) Report(r *report.Report) {
	r.SetRecords(o.Runs)
	r.Tables = []report.Table{o.speedTable(), o.passTable(), o.filterTable()}
	r.Notes = append(r.Notes, fmt.Sprintf("A miss looks up an absent key between the present "+
		"keys, a hit a present key, and a rewritten key also has an older version in a lower "+
		"level. The small block cache (%.1f MB, besides memtables) has room for all filters and a "+
		"part of the data, the large one (%.1f MB) for all. Files are in the operating system's "+
		"cache; a time says how much longer a read of table data waits. Load includes flushes and "+
		"compactions, and waits for no read.", float64(o.SmallCache())/1e6,
		float64(o.LargeCache())/1e6),
		"Checks, reads avoided and FPR (false positives per check) are counted apart from the "+
			"timed passes. They depend on the keys' shape, their density and the number of keys "+
			"per filter. "+engine.RibbonSmall+" has 7 bits per key.")
	if slices.ContainsFunc(o.Engines, func(e engine.Engine) bool { return e.L6 }) {
		r.Notes = append(r.Notes, PebbleRules)
	}
	for _, warning := range o.warnings() {
		r.Notes = append(r.Notes, "WARNING: "+warning)
	}
}

// A column of a table is a figure of runs.
type column struct {
	name     string
	decimals int
	of       func(Run) float64
}

// table has a row for each contestant in each engine, with a cell for each column.
func (o *Outcome) table(title string, columns []column, cell func(Runs, column) any) report.Table {
	t := report.Table{Title: title, Keys: 2, Columns: []string{"engine", "filter"}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.name)
	}
	for _, e := range o.Engines {
		for _, contestant := range o.Contestants() {
			runs := o.Runs.Of(e.Name, contestant)
			if len(runs) == 0 {
				continue
			}
			row := []any{e.Name, contestant}
			for _, c := range columns {
				row = append(row, cell(runs, c))
			}
			t.Add(row...)
		}
	}
	return t
}

func median(runs Runs, c column) any {
	return report.Number{Value: runs.Median(c.of), Decimals: c.decimals}
}

func (o *Outcome) speedTable() report.Table {
	base := o.Filters[0]
	columns := []column{{"load", 1, Load}}
	for _, p := range o.passes() {
		columns = append(columns, column{p.String(), 1, p.Speed()})
	}
	return o.table(fmt.Sprintf("Speed: times as fast as %q in the same engine and round (above 1 is "+
		"faster), median [minimum to maximum]; for %[1]q itself per second", base), columns,
		func(runs Runs, c column) any {
			if runs[0].Contestant == base {
				return report.Number{Value: runs.Median(c.of)}
			}
			return runs.Ratio(o.Runs.Of(runs[0].Engine, base), c.of)
		})
}

// passTable shows what each pass reads, and how fast it is.
func (o *Outcome) passTable() report.Table {
	var columns []column
	passes := o.smallPasses()
	if slices.ContainsFunc(o.Engines, func(e engine.Engine) bool { return e.L6 }) &&
		slices.Contains(o.Filters, engine.RibbonL6) {
		passes = append(passes, o.rewrittenPasses()...)
	}
	for _, p := range passes {
		columns = append(columns, column{p.String() + ", per second", 0, p.Speed()},
			column{p.String() + ", reads", 4, p.Of(Reads)})
	}
	return o.table("Lookups per second, and reads of table data per lookup (medians over the rounds)",
		columns, median)
}

func (o *Outcome) filterTable() report.Table {
	t := o.table("Filters: what they avoid, and what they take (medians over the rounds)", []column{
		{"checks per miss", 2, func(r Run) float64 { return ratio(r.BetweenChecks, r.BetweenLookups) }},
		{"reads avoided per miss", 2, func(r Run) float64 {
			return ratio(r.BetweenAvoided, r.BetweenLookups)
		}},
		{"FPR, %", 2, func(r Run) float64 { return 100 * FPR(r) }},
		{"keys per filter", 0, func(r Run) float64 { return ratio(r.Keys, r.Filters) }},
		{"filter bytes per key", 3, BytesPerKey},
		{"filters, MB", 2, func(r Run) float64 { return float64(r.FilterBytes) / 1e6 }},
	}, median)
	t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool { return row[1] == engine.None })
	return t
}

// inVain reports whether the filters of runs answered "absent" to most checks, and yet the reads of
// a miss fell by less than a tenth: reading filters takes reads as well.
func (o *Outcome) inVain(runs Runs) bool {
	reads := o.passes()[0].Of(Reads)
	without := o.Runs.Of(runs[0].Engine, engine.None)
	return runs.Median(FPR) < 0.5 && runs.Median(reads) >= 0.9*without.Median(reads)
}

// warnings returns what makes figures doubtful.
func (o *Outcome) warnings() (all []string) {
	if whole := engine.WholeBits(o.Bits); float64(whole) != o.Bits {
		all = append(all, fmt.Sprintf("engines' own filters take whole bits per key: %s has %d, "+
			"the others have %v", engine.BuiltIn, whole, o.Bits))
	}
	last := o.Filters[len(o.Filters)-1]
	for i, r := range o.Runs {
		name := fmt.Sprintf("%s, %s, round %d: ", r.Engine, r.Contestant, r.Round)
		base := o.Runs.Of(r.Engine, last)
		switch at := slices.IndexFunc(base, func(b Run) bool { return b.Round == r.Round }); {
		case r.Contestant == engine.None:
		case r.BetweenChecks == 0:
			all = append(all, name+"NO FILTER WAS EVER ASKED for absent keys: the speed says "+
				"nothing about filters")
		case o.inVain(o.Runs[i : i+1]):
			all = append(all, name+"its filters answered \"absent\" to most checks, and yet reads "+
				"fell by less than a tenth. The small block cache has no room for filters, or has "+
				"room for all of the data: the speed says nothing about filters")
		case at >= 0 && r.Contestant != engine.RibbonL6 && last != engine.RibbonL6 &&
			math.Abs(ratio(r.BetweenChecks, base[at].BetweenChecks)-1) > 0.02:
			all = append(all, fmt.Sprintf("%sits filters were asked %d times, those of %s %d times. "+
				"The trees differ, so not all of the difference in speed is the filter's", name,
				r.BetweenChecks, last, base[at].BetweenChecks))
		}
	}
	return all
}
