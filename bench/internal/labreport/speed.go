package labreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// A speedRatio is how many times as fast as the base a contestant is, with its spread: the extremes
// of several parts of the rounds.
type speedRatio struct {
	work, contestant, base string
	low, middle, high      float64
	again                  bool // the contestant is the base once more
	load                   bool // the work is to load a database
}

// speedRatios compares the contestants with the first one, which runs a second time in each round:
// the first comparison of a work is noise.
func speedRatios(records []filterbench.Record) (ratios []speedRatio) {
	for _, work := range distinct(records, workOf) {
		of := slices.Clone(records)
		of = slices.DeleteFunc(of, func(r filterbench.Record) bool { return workOf(r) != work })
		names := distinct(of, func(r filterbench.Record) string { return r.Contestant })
		for _, name := range names[1:] {
			a, b := times(of, names[0]), times(of, name)
			s := speedRatio{work: work, contestant: name, base: names[0], again: again(name)}
			s.middle = filterbench.Fastest(a) / filterbench.Fastest(b)
			s.low, s.high = s.middle, s.middle
			const batches = 4
			for i := range min(batches, len(a), len(b)) {
				ratio := filterbench.Fastest(nth(a, i, batches)) /
					filterbench.Fastest(nth(b, i, batches))
				s.low, s.high = min(s.low, ratio), max(s.high, ratio)
			}
			ratios = append(ratios, s)
		}
	}
	return ratios
}

func again(contestant string) bool { return strings.HasSuffix(contestant, enginebench.Again) }

func workOf(r filterbench.Record) string {
	work := r.Work
	if r.Mix != "" {
		work += " of a " + r.Mix
	}
	return fmt.Sprintf("%s, %s per filter", work, keys.CountN(r.N))
}

func times(records []filterbench.Record, contestant string) (ns []float64) {
	for _, r := range records {
		if r.Contestant == contestant {
			ns = append(ns, r.Ns)
		}
	}
	return ns
}

// nth returns every step-th of values, from i on.
func nth(values []float64, i, step int) (some []float64) {
	for ; i < len(values); i += step {
		some = append(some, values[i])
	}
	return some
}

// builds returns how fast the contestants build filters.
func builds(records []filterbench.Record) []speedRatio {
	records = slices.Clone(records)
	return speedRatios(slices.DeleteFunc(records, func(r filterbench.Record) bool {
		return r.Work != string(filterbench.Build)
	}))
}

// engineRatios compares the speed of databases with filters with that without, and the filter that
// runs twice with itself. The spread is the extremes of the rounds.
func engineRatios(runs []enginebench.Run) (ratios []speedRatio) {
	type work struct {
		name string
		of   func(enginebench.Run) float64
	}
	works := []work{{"load", func(r enginebench.Run) float64 { return r.Load }}}
	if len(runs) > 0 {
		for i, p := range runs[0].Passes {
			works = append(works, work{p.String(), func(r enginebench.Run) float64 {
				return r.Passes[i].PerSecond
			}})
		}
	}
	for _, engine := range distinct(runs, func(r enginebench.Run) string { return r.Engine }) {
		for _, name := range distinct(runs, contestant) {
			base := strings.TrimSuffix(name, enginebench.Again)
			if !again(name) {
				base = runs[0].Contestant
			}
			if name == base {
				continue
			}
			for _, w := range works {
				var compared []float64
				for _, a := range runs {
					for _, b := range runs {
						if a.Engine == engine && b.Engine == engine && a.Round == b.Round &&
							a.Contestant == name && b.Contestant == base {
							compared = append(compared, w.of(a)/w.of(b))
						}
					}
				}
				if s := report.Extremes(compared, 2); len(compared) > 0 {
					ratios = append(ratios, speedRatio{title(engine) + ", " + w.name, name, base,
						s.Low, s.Middle, s.High, again(name), w.name == works[0].name})
				}
			}
		}
	}
	return ratios
}
