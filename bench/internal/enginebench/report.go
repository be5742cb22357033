package enginebench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Outcome is what Run measured, in the order of its runs.
type Outcome struct {
	*Config
	Runs []Run
}

// of returns the runs of a contestant, by round.
func (o *Outcome) of(e engine.Engine, contestant string) (runs []Run) {
	for _, r := range o.Runs {
		if r.Engine == e.Name && r.Contestant == contestant {
			runs = append(runs, r)
		}
	}
	return runs
}

// median returns the median of a figure over a contestant's rounds, or NaN.
func (o *Outcome) median(e engine.Engine, contestant string, figure func(Run) float64) float64 {
	var values []float64
	for _, r := range o.of(e, contestant) {
		values = append(values, figure(r))
	}
	return report.Median(values)
}

// compare compares a figure with that of another contestant in the same round.
func (o *Outcome) compare(e engine.Engine, contestant, other string, figure func(Run) float64,
	with func(a, b float64) float64) report.Spread {
	var compared []float64
	for _, r := range o.of(e, contestant) {
		for _, b := range o.of(e, other) {
			if b.Round == r.Round {
				compared = append(compared, with(figure(r), figure(b)))
			}
		}
	}
	return report.Extremes(compared, 2)
}

func by(a, b float64) float64    { return a / b }
func minus(a, b float64) float64 { return a - b }

// ratio returns how many times as high a figure is as that of a base contestant in the same round.
func (o *Outcome) ratio(e engine.Engine, contestant, base string,
	figure func(Run) float64) report.Spread {
	return o.compare(e, contestant, base, figure, by)
}

func load(r Run) float64 { return r.Load }

// avoided is the percentage of needless table reads that the filters avoid.
func avoided(r Run) float64 { return 100 * ratio(r.BetweenAvoided, r.BetweenChecks) }

// whole sums up the levels.
func (r Run) whole() (sum engine.Level) {
	var keys float64
	for _, l := range r.Levels {
		sum.FilterBytes += l.FilterBytes
		sum.Keys += l.Keys
		keys += l.KeysPerFilter * float64(l.Keys)
	}
	sum.KeysPerFilter = keys / float64(sum.Keys)
	return sum
}

// filterFigures are the columns of the table of filters.
var filterFigures = []struct {
	name     string
	decimals int
	figure   func(Run) float64
}{
	{"checks per miss", 2, func(r Run) float64 { return ratio(r.BetweenChecks, r.BetweenLookups) }},
	{"reads avoided per miss", 2, func(r Run) float64 {
		return ratio(r.BetweenAvoided, r.BetweenLookups)
	}},
	{"FPR between, %", 2, func(r Run) float64 { return 100 - avoided(r) }},
	{"FPR beyond, %", 2, func(r Run) float64 {
		return 100 * ratio(r.BeyondChecks-r.BeyondAvoided, r.BeyondChecks)
	}},
	{"keys per filter", 0, func(r Run) float64 { return r.whole().KeysPerFilter }},
	{"filter bytes per key", 3, func(r Run) float64 {
		return ratio(r.whole().FilterBytes, r.whole().Keys)
	}},
	{"filters, MB", 2, func(r Run) float64 { return float64(r.whole().FilterBytes) / 1e6 }},
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

// Report fills in the records, the tables, the notes and the conclusion.
func (o *Outcome) Report(r *report.Report) {
	r.Records = o.Runs
	r.Tables = []report.Table{o.speedTable(), o.diskTable(), o.l6Table(),
		o.breakEvenTable(), o.filterTable()}
	r.Tables = slices.DeleteFunc(r.Tables, func(t report.Table) bool { return len(t.Rows) == 0 })
	for _, e := range o.Engines {
		if t := o.levelTable(e); len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("A miss looks up an absent key between the present "+
		"keys, a hit a present key. The small block cache (%.1f MB) has room for all filters and a "+
		"part of the data, the large one (%.1f MB) for all.%s Files are in the operating system's "+
		"cache; a time says how much longer a read of table data waits, %d of them side by side. "+
		"Load includes flushes and compactions, and waits for no read.",
		float64(o.SmallCache())/1e6, float64(o.LargeCache())/1e6, o.memTables(), o.QueueDepth),
		"Checks, reads avoided and FPR (false positives per check) are counted apart from the "+
			"timed passes, for absent keys between and beyond the present keys. They depend on "+
			"the keys' shape, their density and the number of keys per filter.")
	for _, warning := range o.warnings() {
		r.Notes = append(r.Notes, "WARNING: "+warning)
	}
	r.Conclusion = append(o.conclusion(), o.l6Conclusion()...)
}

// memTables says how much larger the block caches are of which memtables take a part.
func (o *Outcome) memTables() string {
	var larger []string
	for _, e := range o.Engines {
		if e.MemTables > 0 {
			larger = append(larger, fmt.Sprintf("%s's by %.1f MB", e.Name, float64(e.MemTables)/1e6))
		}
	}
	if larger == nil {
		return ""
	}
	return " Both are larger where memtables take a part of them: " + strings.Join(larger, ", ") +
		". " + CacheRule
}

func (o *Outcome) speedTable() report.Table {
	base := o.Filters[0]
	t := report.Table{
		Title: fmt.Sprintf("Speed: times as fast as %q in the same engine and round (above 1 is "+
			"faster), median [minimum to maximum]; for %[1]q itself thousands per second", base),
		Keys: 2, Columns: []string{"engine", "filter"},
	}
	t.Columns = append(t.Columns, "load")
	figures := []func(Run) float64{load}
	for _, p := range o.passes() {
		if p.Threads == o.Threads[0] {
			t.Columns, figures = append(t.Columns, p.String()), append(figures, p.speed())
		}
	}
	for _, e := range o.Engines {
		for _, contestant := range o.Contestants() {
			row := []any{e.Name, contestant}
			for _, figure := range figures {
				if contestant == base {
					thousands := o.median(e, base, figure) / 1e3
					row = append(row, report.Number{Value: thousands, Decimals: 1})
				} else {
					row = append(row, o.ratio(e, contestant, base, figure))
				}
			}
			if len(o.of(e, contestant)) > 0 {
				t.Add(row...)
			}
		}
	}
	return t
}

func (o *Outcome) filterTable() report.Table {
	t := report.Table{
		Title: "Filters: what they avoid, and what they take (medians over the rounds)",
		Keys:  2, Columns: []string{"engine", "filter"},
	}
	for _, f := range filterFigures {
		t.Columns = append(t.Columns, f.name)
	}
	for _, e := range o.Engines {
		for _, filter := range o.Filters {
			if filter == engine.None || len(o.of(e, filter)) == 0 {
				continue
			}
			row := []any{e.Name, filter}
			for _, f := range filterFigures {
				value := o.median(e, filter, f.figure)
				row = append(row, report.Number{Value: value, Decimals: f.decimals})
			}
			t.Add(row...)
		}
	}
	return t
}

// levelTable has a row for each level with filters: its tables, and each filter's FPR there. It is
// empty for an engine whose levels' checks are unknown.
func (o *Outcome) levelTable(e engine.Engine) report.Table {
	t := report.Table{
		Title: e.Name + ", by level: tables, filters, and the FPR of each filter between the " +
			"present keys, % (medians over the rounds)",
		Keys: 1, Columns: []string{"level", "tables", "MB", "keys per filter", "filters, MB"},
	}
	filters := slices.Clone(o.Filters)
	filters = slices.DeleteFunc(filters, func(f string) bool { return f == engine.None })
	if len(filters) == 0 || !e.Levels {
		return t
	}
	t.Columns = append(t.Columns, filters...)
	for level := range engine.NumLevels {
		median := func(f string, decimals int, figure func(engine.Level) float64) report.Number {
			return report.Number{Decimals: decimals, Value: o.median(e, f, func(r Run) float64 {
				if level >= len(r.Levels) {
					return math.NaN()
				}
				return figure(r.Levels[level])
			})}
		}
		count := func(f string) float64 {
			return median(f, 0, func(l engine.Level) float64 { return float64(l.Filters) }).Value
		}
		i := slices.IndexFunc(filters, func(f string) bool { return count(f) > 0 })
		if i < 0 {
			continue
		}
		first := filters[i]
		row := []any{
			fmt.Sprintf("L%d", level),
			median(first, 0, func(l engine.Level) float64 { return float64(l.Tables) }),
			median(first, 1, func(l engine.Level) float64 { return float64(l.Bytes) / 1e6 }),
			median(first, 0, func(l engine.Level) float64 { return l.KeysPerFilter }),
			median(first, 3, func(l engine.Level) float64 { return float64(l.FilterBytes) / 1e6 }),
		}
		for _, f := range filters {
			row = append(row, median(f, 2, func(l engine.Level) float64 {
				return 100 * ratio(l.Checks-l.Avoided, l.Checks)
			}))
		}
		t.Add(row...)
	}
	return t
}

// readsPerMiss returns the reads of table data per miss with a contestant's filters and without
// filters, and whether the filters were in vain: they answered "absent" to most checks, and yet
// the reads did not fall by even a tenth. They are in vain if reading filters takes reads as well.
func (o *Outcome) readsPerMiss(e engine.Engine, contestant string) (
	with, without float64, inVain bool) {
	reads := o.passes()[0].of(func(p Pass) float64 { return p.Reads })
	with, without = o.median(e, contestant, reads), o.median(e, engine.None, reads)
	return with, without, o.median(e, contestant, avoided) > 50 && with >= 0.9*without
}

// warnings returns what makes figures doubtful.
func (o *Outcome) warnings() (all []string) {
	if whole := engine.WholeBits(o.Bits); float64(whole) != o.Bits {
		all = append(all, fmt.Sprintf("engines' own filters take whole bits per key: %s has %d, "+
			"the others have %v", engine.BuiltIn, whole, o.Bits))
	}
	last := o.Filters[len(o.Filters)-1]
	for _, e := range o.Engines {
		base := o.of(e, last)
		for _, contestant := range o.Contestants() {
			if with, without, inVain := o.readsPerMiss(e, contestant); inVain {
				all = append(all, fmt.Sprintf("%s, %s: its filters answered \"absent\" to %.0f %% of "+
					"the checks, and yet a miss has %.2f reads, without filters %.2f. The small "+
					"block cache has no room for filters, or has room for all of the data: the "+
					"speed says nothing about filters", e.Name, contestant,
					o.median(e, contestant, avoided), with, without))
			}
			for i, r := range o.of(e, contestant) {
				name := fmt.Sprintf("%s, %s, round %d: ", e.Name, contestant, r.Round)
				switch {
				case contestant == engine.None:
				case r.BetweenChecks == 0 || r.BeyondChecks == 0:
					all = append(all, name+"NO FILTER WAS EVER ASKED for absent keys between or "+
						"beyond the present keys: the speed says nothing about filters")
				case i < len(base) && contestant != engine.RibbonL6 && last != engine.RibbonL6 &&
					math.Abs(ratio(r.BetweenChecks, base[i].BetweenChecks)-1) > 0.02:
					all = append(all, fmt.Sprintf("%sits filters were asked %d times, those of "+
						"%s %d times. The trees differ, so not all of the difference in speed is "+
						"the filter's", name, r.BetweenChecks, last, base[i].BetweenChecks))
				}
			}
		}
	}
	return all
}
