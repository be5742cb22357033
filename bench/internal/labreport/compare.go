package labreport

import (
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/enginebench"
)

// A Comparison says what became better or worse than in former results, beyond noise.
type Comparison struct {
	Command string   `json:"command"` // that made the former results
	Commit  string   `json:"commit"`  // their commit
	Machine string   `json:"machine"` // theirs, if it was another one
	Keys    string   `json:"keys"`    // theirs, if they were others
	Better  []Change `json:"better"`
	Worse   []Change `json:"worse"`
	Same    int      `json:"same"`    // figures that differ by no more than noise
	Missing int      `json:"missing"` // figures that only one of the two has
	Noise   float64  `json:"noise"`   // by which speeds of the same code differed, a part of 1
}

// Factor returns the noise as a factor.
func (c *Comparison) Factor() float64 { return 1 + c.Noise }

// A Change is a figure that changed.
type Change struct {
	Figure string `json:"figure"`
	Old    string `json:"old"`
	New    string `json:"new"`
}

// A figure can be compared with the same one of another run.
type figure struct {
	name              string
	low, middle, high float64
	speed             bool // more is better, and all speeds share the noise
}

func (f figure) text() string {
	if f.speed {
		return fmt.Sprintf("%.2f [%.2f to %.2f]", f.middle, f.low, f.high)
	}
	return fmt.Sprintf("%s [%s to %s]", percent(f.middle), percent(f.low), percent(f.high))
}

// leastNoise is the noise that is assumed at least: that of two turns may be small by chance.
const leastNoise = 0.03

// compare compares results with former ones. Two figures differ if their intervals do, even if
// noise widens them.
func compare(old, new *Results) (*Comparison, error) {
	before, noiseBefore, err := old.figures()
	if err != nil {
		return nil, err
	}
	after, noise, err := new.figures()
	if err != nil {
		return nil, err
	}
	c := &Comparison{Command: old.Command, Noise: max(noise, noiseBefore, leastNoise)}
	if old.Keys != new.Keys {
		c.Keys = old.Keys
	}
	if len(old.Parts) > 0 && len(new.Parts) > 0 {
		was, is := old.Parts[0].Report.Environment, new.Parts[0].Report.Environment
		if c.Commit = was.Commit; was.CPU != is.CPU {
			c.Machine = was.CPU
		}
	}
	for _, b := range after {
		i := slices.IndexFunc(before, func(a figure) bool { return a.name == b.name })
		if i < 0 {
			c.Missing++
			continue
		}
		a := before[i]
		before = slices.Delete(before, i, i+1)
		wider := 1.0
		if b.speed {
			wider = c.Factor()
		}
		switch change := (Change{b.name, a.text(), b.text()}); {
		case b.low > a.high*wider && b.speed, b.high*wider < a.low && !b.speed:
			c.Better = append(c.Better, change)
		case b.low > a.high*wider, b.high*wider < a.low:
			c.Worse = append(c.Worse, change)
		default:
			c.Same++
		}
	}
	c.Missing += len(before)
	return c, nil
}

// figures returns all that can be compared, and the noise: how much a speed differs from 1 that
// compares the same code with itself, at most.
func (r *Results) figures() (all []figure, noise float64, err error) {
	p, err := r.decode()
	if err != nil {
		return nil, 0, err
	}
	for _, r := range append(slices.Clone(p.tradeOff), p.shapes...) {
		name := fmt.Sprintf("false positives: %s, %s %s, %s, %v bits per key", r.Kind, r.Shape,
			r.Density, r.Of(), r.Bits)
		f := figure{name, r.Low, r.FPR, r.High, false}
		if !slices.ContainsFunc(all, func(o figure) bool { return o.name == name }) {
			all = append(all, f)
		}
	}
	ratios := speedRatios(p.speeds)
	const rounds = 3 // fewer show no spread
	if slices.ContainsFunc(p.engines, func(r enginebench.Run) bool { return r.Round >= rounds }) {
		ratios = append(ratios, engineRatios(p.engines)...)
	}
	for _, s := range ratios {
		if s.again {
			noise = max(noise, math.Abs(s.middle-1))
			continue
		}
		name := fmt.Sprintf("%s: %s, times as fast as %s", s.work, s.contestant, s.base)
		all = append(all, figure{name, s.low, s.middle, s.high, true})
	}
	return all, noise, nil
}
