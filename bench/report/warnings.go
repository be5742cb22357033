package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/measure"
)

// warnings returns what makes the figures of an engine doubtful.
func (r *Report) warnings(e Engine, runs map[measure.Contestant][]measure.Run) (all []string) {
	if i := slices.IndexFunc(e.Bits, func(bits float64) bool { return float64(engine.WholeBits(bits)) != bits }); i >= 0 {
		all = append(all, fmt.Sprintf("the engine's own filter takes whole bits per key: builtin has %d, levelbloom %v", engine.WholeBits(e.Bits[i]), e.Bits[i]))
	}
	first, last := e.Contestants[0], e.Contestants[len(e.Contestants)-1]
	for _, c := range e.Contestants {
		// Most warnings hold for every round, so each is given once, with its rounds.
		rounds := map[string][]string{}
		var texts []string
		for i, run := range runs[c] {
			found := r.filterWarnings(run, runs[last][i], last)
			if difference := shapeDifference(runs[first][i].Tables, run.Tables); difference != "" {
				found = append(found, fmt.Sprintf("another tree than %s has (%s): not all of the difference in speed is the filter's", first.Name(), difference))
			}
			for _, text := range found {
				if rounds[text] == nil {
					texts = append(texts, text)
				}
				rounds[text] = append(rounds[text], fmt.Sprint(run.Round))
			}
		}
		for _, text := range texts {
			all = append(all, fmt.Sprintf("%s, round %s: %s", c.Name(), strings.Join(rounds[text], ", "), text))
		}
	}
	return all
}

// filterWarnings returns what is doubtful about how often a run's filters were asked; reference is the run of another
// contestant in the same round.
func (r *Report) filterWarnings(run, reference measure.Run, c measure.Contestant) (all []string) {
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for i, l := range run.Lookups {
		if l.Between.Lookups < int64(r.Lookups) {
			warn("%s: only %d absent keys lie between the present ones, and the %d timed misses repeat them: pass a lower -density or more keys", l.Read, l.Between.Lookups, r.Lookups)
		}
		if run.Contestant.Filter == engine.None {
			continue
		}
		if l.Between.Checks == 0 {
			warn("%s: NO FILTER WAS EVER ASKED for absent keys between the present ones; the speed says nothing about filters", l.Read)
		}
		if l.Beyond.Checks == 0 {
			warn("%s: NO FILTER WAS EVER ASKED for absent keys beyond the present ones", l.Read)
		}
		if percent := percentFuse(l.Between); run.Contestant.Filter == engine.Fuse && percent < 50 {
			warn("%s: %.0f %% of the filters that were asked are binary fuse; for so few keys or bits the others, blocked Bloom, have fewer false positives: pass more -bits, and for goleveldb a larger -baselg", l.Read, percent)
		}
		other := reference.Lookups[i].Between.Checks
		if c.Filter != engine.None && math.Abs(float64(l.Between.Checks-other)) > 0.02*float64(other) {
			warn("%s: its filters were asked %d times, those of %s %d times", l.Read, l.Between.Checks, c.Name(), other)
		}
	}
	return all
}

// shapeTolerance is how much of the whole a level may differ by before the table says so.
const shapeTolerance = 0.10

// shapeDifference says in which level two trees differ, without the filters' own bytes, or returns "". In L0 every
// table counts, because most lookups pass all of them.
func shapeDifference(a, b engine.Tables) string {
	net := func(l engine.Level) float64 { return float64(l.Bytes - l.FilterBytes) }
	var whole float64
	for _, l := range a.Levels {
		whole += net(l)
	}
	level := func(t engine.Tables, i int) engine.Level {
		if i < len(t.Levels) {
			return t.Levels[i]
		}
		return engine.Level{}
	}
	for i := range max(len(a.Levels), len(b.Levels)) {
		x, y := level(a, i), level(b, i)
		if math.Abs(net(x)-net(y)) > shapeTolerance*whole || (x.Tables == 0) != (y.Tables == 0) || i == 0 && x.Tables != y.Tables {
			return fmt.Sprintf("L%d has %d tables, %.1f MB against %d, %.1f MB", i, y.Tables, net(y)/1e6, x.Tables, net(x)/1e6)
		}
	}
	return ""
}
