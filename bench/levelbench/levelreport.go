package levelbench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/levelbloom/levelbloom/bench/engine"
)

func (r *Report) writeLevels(b *strings.Builder) {
	t := newTable(table.Row{"plan", "level", "filters\nbuilt", "keys built,\nthousand", "keys per\nfilter", "written as", "bytes\nper key", "making,\nns per key",
		"checks\nper miss", "reads avoided\nper miss", "FPR, %", "checks per\nkey built", "pays,\nµs"}, 1, 2, 6)
	for i, p := range r.Plans {
		if i == 1 { // the first one again
			continue
		}
		for level := range engine.NumLevels {
			of := func(figure func(Level) float64) figures {
				return r.of(p.Name, func(run Run) float64 { return figure(run.Levels[level]) })
			}
			if !slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Plan == p.Name && run.Levels[level].asked() }) {
				continue
			}
			misses := float64(r.Counts[miss])
			t.AppendRow(table.Row{
				p.Name, fmt.Sprintf("L%d", level),
				of(func(l Level) float64 { return float64(l.Built.Filters) }).format("%.0f"),
				of(func(l Level) float64 { return float64(l.Built.Keys) / 1e3 }).format("%.0f"),
				of(func(l Level) float64 { return float64(l.Built.Keys) / float64(l.Built.Filters) }).format("%.0f"),
				r.written(p.Name, level),
				of(func(l Level) float64 { return float64(l.Built.Bytes) / float64(l.Built.Keys) }).format("%.3f"),
				of(Level.making).format("%.1f"),
				of(func(l Level) float64 { return float64(l.Absent.Checks) / misses }).format("%.2f"),
				of(func(l Level) float64 { return float64(l.Absent.Avoided) / misses }).format("%.2f"),
				of(func(l Level) float64 { return 100 * l.fpr() }).format("%.3f"),
				of(func(l Level) float64 { return l.perKeyBuilt(l.Absent.Checks + l.Present.Checks) }).format("%.2f"),
				r.pays(p, level),
			})
		}
		t.AppendSeparator()
	}
	fmt.Fprintf(b, "%s\n\n", t.Render())
}

// written says of which kinds the filters are that were made for a level, in all rounds.
func (r *Report) written(plan string, level int) string {
	keys, all := map[string]int64{}, int64(0)
	for _, run := range r.Runs {
		if run.Plan == plan {
			for kind, n := range run.Levels[level].Built.Written {
				keys[kind] += n
				all += n
			}
		}
	}
	kinds := slices.SortedFunc(maps.Keys(keys), func(a, b string) int { return cmp.Compare(keys[b], keys[a]) })
	if len(kinds) > 1 {
		for i, kind := range kinds {
			kinds[i] = fmt.Sprintf("%s: %.1f %%", kind, 100*float64(keys[kind])/float64(all))
		}
	}
	return strings.Join(kinds, ", ")
}

// pays says from which time on, in microseconds, that reading a table in vain takes, the encoding of a level gains more than
// the first plan's.
func (r *Report) pays(p Plan, level int) string {
	base := r.Plans[0]
	if p.Levels[level].Name == base.Levels[level].Name {
		return ""
	}
	median := func(plan string, figure func(Level) float64) float64 {
		return r.of(plan, func(run Run) float64 { return figure(run.Levels[level]) }).median()
	}
	extra := median(p.Name, Level.making) - median(base.Name, Level.making)
	lower := median(base.Name, Level.fpr) - median(p.Name, Level.fpr)
	checks := median(p.Name, func(l Level) float64 { return l.perKeyBuilt(l.Absent.Checks + l.Present.Avoided) })
	limit := extra / (lower * checks) / 1e3
	switch {
	case math.IsNaN(extra*lower) || !(checks > 0):
		return ""
	case extra > 0 && lower > 0:
		return fmt.Sprintf("from %.1f", limit)
	case extra < 0 && lower < 0:
		return fmt.Sprintf("up to %.1f", limit)
	case extra <= 0 && lower >= 0:
		return "always"
	default:
		return "never"
	}
}
