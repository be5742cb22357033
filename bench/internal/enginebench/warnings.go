package enginebench

import (
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
)

// warnings returns what makes figures doubtful, each once.
func (o *Outcome) warnings() (all []string) {
	warned := map[string]bool{}
	warn := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !warned[text] {
			warned[text] = true
			all = append(all, text)
		}
	}
	if whole := engine.WholeBits(o.Bits); float64(whole) != o.Bits {
		warn("engines' own filters take whole bits per key: builtin has %d, the others "+
			"%v", whole, o.Bits)
	}
	for _, e := range o.Engines {
		byRound := map[int]Run{}
		for _, r := range o.of(e, o.Filters[len(o.Filters)-1]) {
			byRound[r.Round] = r
		}
		for _, contestant := range o.Contestants() {
			for _, r := range o.of(e, contestant) {
				name := e.Name + ", " + contestant
				if r.BetweenLookups < int64(o.Reads) {
					warn("only %d absent keys are between the present ones, and the %d timed "+
						"misses repeat "+
						"them: pass a lower -density or more keys", r.BetweenLookups, o.Reads)
				}
				if contestant != engine.None && (r.BetweenChecks == 0 || r.BeyondChecks == 0) {
					warn("%s: NO FILTER WAS EVER ASKED for absent keys between or beyond the "+
						"present ones; "+
						"the speed says nothing about filters", name)
				}
				base, ok := byRound[r.Round]
				if base.BetweenChecks > 0 && contestant != engine.None &&
					math.Abs(float64(r.BetweenChecks)/float64(base.BetweenChecks)-1) > 0.02 {
					warn("%s: its filters were asked %d times, those of %s %d times", name,
						r.BetweenChecks, base.Contestant, base.BetweenChecks)
				}
				if d := treeDifference(base.Levels, r.Levels); ok && d != "" {
					warn("%s: round %d has another tree than %s (%s): not all of the difference "+
						"in speed is "+
						"the filter's", name, r.Round, base.Contestant, d)
				}
			}
		}
	}
	return all
}

// treeTolerance is how much of the whole a level may differ by.
const treeTolerance = 0.10

// treeDifference says in which level two trees differ, without the filters' own bytes, or returns
// "". In L0 every table counts, because most lookups visit all of them.
func treeDifference(a, b []engine.Level) string {
	net := func(l engine.Level) float64 { return float64(l.Bytes - l.FilterBytes) }
	level := func(levels []engine.Level, i int) engine.Level {
		if i < len(levels) {
			return levels[i]
		}
		return engine.Level{}
	}
	var whole float64
	for _, l := range a {
		whole += net(l)
	}
	for i := range max(len(a), len(b)) {
		x, y := level(a, i), level(b, i)
		if math.Abs(net(x)-net(y)) > treeTolerance*whole || (x.Tables == 0) != (y.Tables == 0) ||
			i == 0 && x.Tables != y.Tables {
			return fmt.Sprintf("L%d has %d tables, %.1f MB against %d, %.1f MB",
				i, y.Tables, net(y)/1e6, x.Tables, net(x)/1e6)
		}
	}
	return ""
}
