package labreport

import (
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A choice is a filter in an engine, and what it costs there. What is unknown is NaN.
type choice struct {
	Filter  string
	FPR     float64       // false positives per check of a filter, for misses between the keys
	Counted int64         // false positives in all rounds, of which FPR comes
	Reads   float64       // needless reads of tables per miss: what the filters did not avoid
	Load    report.Spread // times as fast as with the engine's own filter
	MB      float64       // of filters, per million keys
}

// An advice is what to use in an engine.
type advice struct {
	Engine  string
	Choices []choice
	Rounds  int
	Noise   float64 // by which loads with the same filter differed, a part of 1
	Now     choice  // the engine's own filter
	Best    choice
	Kind    kind.Kind // of Best
	Compat  kind.Kind // the best one that all readers of LevelDB's filters understand
}

// of returns the choice of a filter, or the engine's own if there is none.
func (a advice) of(filter string) choice {
	for _, c := range a.Choices {
		if c.Filter == filter {
			return c
		}
	}
	return a.Now
}

// advices returns what to use in each engine.
func advices(runs []enginebench.Run) (all []advice) {
	for _, name := range distinct(runs, func(r enginebench.Run) string { return r.Engine }) {
		a := advice{Engine: name}
		gain := map[string]float64{}
		own := slices.Clone(runs)
		own = slices.DeleteFunc(own, func(r enginebench.Run) bool { return r.Engine != name })
		for _, filter := range distinct(own, contestant) {
			if !strings.HasSuffix(filter, enginebench.Again) {
				c := newChoice(own, filter)
				a.Choices = append(a.Choices, c)
				gain[filter] = 100 * (1 - c.FPR)
			}
		}
		for _, r := range own {
			a.Rounds = max(a.Rounds, r.Round)
		}
		for _, ratio := range engineRatios(own) {
			if ratio.again && ratio.load {
				a.Noise = max(leastNoise, math.Abs(ratio.middle-1))
			}
		}
		a.Kind, a.Compat = enginebench.Best(gain, 1)
		a.Now = a.of(engine.BuiltIn)
		a.Best = a.of(a.Kind.Name)
		all = append(all, a)
	}
	return all
}

func contestant(r enginebench.Run) string { return r.Contestant }

func newChoice(runs []enginebench.Run, filter string) choice {
	c := choice{Filter: filter}
	var fpr, reads, mb, load []float64
	for _, r := range runs {
		if r.Contestant != filter {
			continue
		}
		var filterBytes, keys int64
		for _, l := range r.Levels {
			filterBytes += l.FilterBytes
			keys += l.Keys
		}
		c.Counted += r.BetweenChecks - r.BetweenAvoided
		positives := float64(r.BetweenChecks - r.BetweenAvoided)
		fpr = append(fpr, positives/float64(r.BetweenChecks))
		reads = append(reads, positives/float64(r.BetweenLookups))
		mb = append(mb, float64(filterBytes)/float64(keys))
		for _, b := range runs {
			if b.Contestant == engine.BuiltIn && b.Round == r.Round {
				load = append(load, r.Load/b.Load)
				if filter == engine.None { // each check would have been a read
					reads[len(reads)-1] = float64(b.BetweenChecks) / float64(b.BetweenLookups)
				}
			}
		}
	}
	c.FPR, c.Reads, c.MB = report.Median(fpr), report.Median(reads), report.Median(mb)
	c.Load = report.Extremes(load, 2)
	if filter == engine.None {
		c.FPR = 1
	}
	if math.IsNaN(c.MB) {
		c.MB = 0
	}
	return c
}

// distinct returns the names of records, each once, in order.
func distinct[T any](records []T, name func(T) string) (names []string) {
	for _, r := range records {
		if n := name(r); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
