package enginebench

import (
	"fmt"
	"math"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// conclusion returns three lines: what filters gain, which one avoids the most reads, and what to
// use.
func (o *Outcome) conclusion() []string {
	var speed, reads []string
	gain := map[string]float64{} // the part of needless reads avoided, summed over the engines
	var noise float64
	for _, e := range o.Engines {
		var parts []string
		for _, f := range o.Filters {
			part := o.median(e, f, avoided)
			if math.IsNaN(part) {
				continue
			}
			parts = append(parts, fmt.Sprintf("%s %.1f %%", f, part))
			gain[f] += part
		}
		if len(parts) > 0 {
			reads = append(reads, e.Name+": "+strings.Join(parts, ", "))
		}
	}
	best, compatible := Best(gain, len(o.Engines))
	if gain[best.Name] == 0 {
		return nil
	}
	last := o.Filters[len(o.Filters)-1]
	first, second := o.passes()[0], o.passes()[1] // misses and hits
	for _, e := range o.Engines {
		_, _, inVain := o.readsPerMiss(e, best.Name)
		if o.Filters[0] == engine.None && len(o.of(e, best.Name)) > 0 && !inVain {
			speed = append(speed, fmt.Sprintf("%s: misses %.1f times, hits %.1f times as fast",
				e.Name,
				o.ratio(e, best.Name, engine.None, first.speed()).Middle,
				o.ratio(e, best.Name, engine.None, second.speed()).Middle))
		}
		for _, p := range []Pass{first, second} {
			if again := o.ratio(e, last+Again, last, p.speed()); !math.IsNaN(again.Middle) {
				noise = max(noise, math.Abs(again.Middle-1))
			}
		}
	}
	advice := fmt.Sprintf("Use %s (%s)", best.Name, best.Constructor)
	if compatible.Name != best.Name {
		advice += fmt.Sprintf(", or %s (%s) %s", compatible.Name, compatible.Constructor,
			compatible.Use)
	}
	lines := []string{
		"Part of the needless table reads that each filter avoids: " +
			strings.Join(reads, "; ") + ".",
		advice + ".",
	}
	if noise > 0 { // or the run ended before the last filter's second turn
		lines[1] += fmt.Sprintf(" Ignore differences in speed below %.0f %%: the same filter "+
			"differed from itself by as much (median).", 100*noise)
	}
	lines = append(lines, o.breakEvens()...)
	if len(speed) > 0 {
		lines = append([]string{fmt.Sprintf("With %s instead of no filter, small cache: %s.",
			best.Name, strings.Join(speed, "; "))}, lines...)
	}
	return lines
}

// Best returns the kind to use, and the best one that all readers of LevelDB's filters understand,
// which may be the same. gain is the percentage of needless reads that a filter avoids, summed over
// the engines.
func Best(gain map[string]float64, engines int) (best, compatible kind.Kind) {
	best, compatible = kind.Exact, kind.Exact
	for _, k := range kind.All {
		if k.Use == "" && better(gain, engines, k, best) {
			best = k
		}
		if k.Encoding == kind.Exact.Encoding && better(gain, engines, k, compatible) {
			compatible = k
		}
	}
	if best.Name == kind.Exact.Name {
		best = compatible
	}
	return best, compatible
}

// better reports whether a gains more than b: not just a little, because b is simpler.
func better(gain map[string]float64, engines int, a, b kind.Kind) bool {
	const something = 0.1
	return gain[a.Name] > gain[b.Name]+something*float64(engines)
}
