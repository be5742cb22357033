package enginebench

import (
	"fmt"
	"math"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
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

// ratio returns how many times as high a figure is as that of a base contestant in the same round.
func (o *Outcome) ratio(
	e engine.Engine,
	contestant, base string,
	figure func(Run) float64,
) report.Spread {
	var ratios []float64
	for _, r := range o.of(e, contestant) {
		for _, b := range o.of(e, base) {
			if b.Round == r.Round {
				ratios = append(ratios, figure(r)/figure(b))
			}
		}
	}
	return report.Extremes(ratios, 2)
}

// speeds are the timed passes.
var speeds = []struct {
	name   string
	figure func(Run) float64
}{
	{"load", func(r Run) float64 { return r.Load }},
	{"miss, small cache", func(r Run) float64 { return r.SmallMiss }},
	{"miss, large cache", func(r Run) float64 { return r.LargeMiss }},
	{"hit, small cache", func(r Run) float64 { return r.SmallHit }},
	{"hit, large cache", func(r Run) float64 { return r.LargeHit }},
}

func checksPerMiss(r Run) float64  { return ratio(r.BetweenChecks, r.BetweenLookups) }
func avoidedPerMiss(r Run) float64 { return ratio(r.BetweenAvoided, r.BetweenLookups) }

func fprBetween(
	r Run,
) float64 {
	return 100 * ratio(r.BetweenChecks-r.BetweenAvoided, r.BetweenChecks)
}

func fprBeyond(
	r Run,
) float64 {
	return 100 * ratio(r.BeyondChecks-r.BeyondAvoided, r.BeyondChecks)
}

// partAvoided is the percentage of needless table reads that the filters avoid.
func partAvoided(r Run) float64 { return 100 * ratio(r.BetweenAvoided, r.BetweenChecks) }

// whole sums up the levels.
func (r Run) whole() (sum engine.Level) {
	var keys float64
	for _, l := range r.Levels {
		sum.Filters += l.Filters
		sum.FilterBytes += l.FilterBytes
		sum.Keys += l.Keys
		keys += l.KeysPerFilter * float64(l.Keys)
	}
	sum.KeysPerFilter = keys / float64(sum.Keys)
	return sum
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
	r.Tables = []report.Table{o.speedTable(), o.filterTable()}
	for _, e := range o.Engines {
		if t := o.levelTable(e); e.Levels && len(t.Rows) > 0 {
			r.Tables = append(r.Tables, t)
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("A miss looks up an absent key between the present "+
		"ones, a hit "+
		"a present key. The small block cache (%.1f MB) has room for a part of the data, the "+
		"large one "+
		"(%.1f MB) for all. Files are in the operating system's cache. Load includes flushes and "+
		"compactions.", float64(o.SmallCache())/1e6, float64(o.LargeCache())/1e6),
		"Checks, reads avoided and FPR (false positives per check) are counted apart from the "+
			"timed "+
			"passes, for absent keys between and beyond the present ones. They depend on the "+
			"keys' shape, "+
			"their density and the number of keys per filter. Where the engine counts too, it "+
			"agreed.")
	for _, warning := range o.warnings() {
		r.Notes = append(r.Notes, "WARNING: "+warning)
	}
	r.Conclusion = o.conclusion()
}

func (o *Outcome) speedTable() report.Table {
	base := o.Filters[0]
	t := report.Table{
		Title: fmt.Sprintf("Speed: times as fast as the same engine with %q in the same round "+
			"(above 1 is "+
			"faster), median [minimum to maximum]; for %[1]q itself thousands per second", base),
		Keys: 2, Columns: []string{"engine", "filter"},
	}
	for _, s := range speeds {
		t.Columns = append(t.Columns, s.name)
	}
	for _, e := range o.Engines {
		for _, contestant := range o.Contestants() {
			row := []any{e.Name, contestant}
			for _, s := range speeds {
				if contestant == base {
					perSecond := o.median(e, base, s.figure) / 1e3
					row = append(row, report.Number{Value: perSecond, Decimals: 0})
				} else {
					row = append(row, o.ratio(e, contestant, base, s.figure))
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
		Keys:  2,
		Columns: []string{
			"engine",
			"filter",
			"checks per miss",
			"reads avoided per miss",
			"FPR between, %",
			"FPR beyond, %",
			"keys per filter",
			"filter bytes per key",
			"filters, MB",
		},
	}
	for _, e := range o.Engines {
		for _, f := range o.Filters {
			if f == engine.None || len(o.of(e, f)) == 0 {
				continue
			}
			cell := func(decimals int, figure func(Run) float64) report.Number {
				return report.Number{Value: o.median(e, f, figure), Decimals: decimals}
			}
			t.Add(
				e.Name,
				f,
				cell(2, checksPerMiss),
				cell(2, avoidedPerMiss),
				cell(2, fprBetween),
				cell(2, fprBeyond),
				cell(0, func(r Run) float64 { return r.whole().KeysPerFilter }),
				cell(
					3,
					func(r Run) float64 { return ratio(r.whole().FilterBytes, r.whole().Keys) },
				),
				cell(2, func(r Run) float64 { return float64(r.whole().FilterBytes) / 1e6 }),
			)
		}
	}
	return t
}

// levelTable has a row for each level with filters: its tables, and each filter's FPR there.
func (o *Outcome) levelTable(e engine.Engine) report.Table {
	t := report.Table{
		Title:   e.Name + ", by level: FPR in % between the present keys (medians over the rounds)",
		Keys:    1,
		Columns: []string{"level", "tables", "MB", "keys per filter", "filters, MB"},
	}
	var filters []string
	for _, f := range o.Filters {
		if f != engine.None {
			filters = append(filters, f)
			t.Columns = append(t.Columns, f)
		}
	}
	for level := range engine.NumLevels {
		figure := func(f string, decimals int, figure func(engine.Level) float64) report.Number {
			return report.Number{Decimals: decimals, Value: o.median(e, f, func(r Run) float64 {
				if level >= len(r.Levels) {
					return math.NaN()
				}
				return figure(r.Levels[level])
			})}
		}
		if len(filters) == 0 {
			return t
		}
		first := filters[0]
		count := figure(first, 0, func(l engine.Level) float64 { return float64(l.Filters) })
		if !(count.Value > 0) {
			continue
		}
		row := []any{
			fmt.Sprintf("L%d", level),
			figure(first, 0, func(l engine.Level) float64 { return float64(l.Tables) }),
			figure(first, 1, func(l engine.Level) float64 { return float64(l.Bytes) / 1e6 }),
			figure(first, 0, func(l engine.Level) float64 { return l.KeysPerFilter }),
			figure(first, 3, func(l engine.Level) float64 { return float64(l.FilterBytes) / 1e6 }),
		}
		for _, f := range filters {
			row = append(row, figure(f, 2, func(l engine.Level) float64 {
				return 100 * ratio(l.Checks-l.Avoided, l.Checks)
			}))
		}
		t.Add(row...)
	}
	return t
}

// conclusion returns three lines: what filters gain, which one avoids the most reads, and what to
// use.
func (o *Outcome) conclusion() []string {
	var speed, avoided []string
	votes := map[string]int{}
	var noise float64
	last := o.Filters[len(o.Filters)-1]
	for _, e := range o.Engines {
		best, bestPart, exactPart := "", 0.0, math.NaN()
		var parts []string
		for _, f := range o.Filters {
			part := o.median(e, f, partAvoided)
			if math.IsNaN(part) {
				continue
			}
			parts = append(parts, fmt.Sprintf("%s %.1f %%", f, part))
			if k, ok := kind.Named(f); ok && part > bestPart {
				best, bestPart = k.Name, part
			}
			if f == kind.Exact.Name {
				exactPart = part
			}
		}
		if exactPart > bestPart-0.1 {
			best = kind.Exact.Name // the others must gain something
		}
		if best == "" {
			continue
		}
		votes[best]++
		avoided = append(avoided, fmt.Sprintf("%s: %s", e.Name, strings.Join(parts, ", ")))
		if o.Filters[0] == engine.None {
			speed = append(speed, fmt.Sprintf("%s: a miss %.1f, a hit %.1f times as fast", e.Name,
				o.ratio(e, best, engine.None, speeds[1].figure).Middle,
				o.ratio(e, best, engine.None, speeds[3].figure).Middle))
		}
		for _, i := range []int{1, 3} { // as above, the small cache
			again := o.ratio(e, last+Again, last, speeds[i].figure)
			noise = max(noise, math.Abs(again.Low-1), math.Abs(again.High-1))
		}
	}
	if len(votes) == 0 {
		return nil
	}
	best := ""
	for _, k := range kind.All {
		if votes[k.Name] > votes[best] {
			best = k.Name
		}
	}
	k, _ := kind.Named(best)
	advice := fmt.Sprintf("Use %s (%s)", best, k.Constructor)
	if best != kind.Exact.Name {
		advice += fmt.Sprintf("; use %s (%s) if C++ LevelDB or another reader of LevelDB's "+
			"filters reads the "+
			"tables too", kind.Exact.Name, kind.Exact.Constructor)
	}
	lines := []string{
		"Of the needless table reads, these filters avoid: " + strings.Join(avoided, "; ") + ".",
		advice + fmt.Sprintf(". Speeds that differ by less than %.0f %% are equal here: a filter "+
			"against itself differed as much.", 100*noise),
	}
	if len(speed) > 0 {
		with := "With a filter and the small cache (" + best + "): "
		lines = append([]string{with + strings.Join(speed, "; ") + "."}, lines...)
	}
	return lines
}
