// Package filterbench compares implementations of filters with each other, outside of any engine.
//
// Contestants are compared by turns: each cell (a work and a number of keys) has rounds, in each of
// which every contestant has one turn, in random order. A turn takes a few milliseconds. Other
// programs on the machine slow down some turns and leave others alone, so the fastest of several
// rounds are compared. The base contestant runs twice, and the ratio of the two is noise.
package filterbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// ErrWrong is the error of a contestant that lost a key, or did not answer as another one of the
// same encoding.
var ErrWrong = errors.New("wrong answer")

// Work is what is timed.
type Work string

const (
	Hit   Work = "hit"   // lookups of present keys in one filter
	Miss  Work = "miss"  // lookups of absent keys in one filter
	Build Work = "build" // building filters
)

// Works lists all kinds of work.
var Works = []Work{Hit, Miss, Build}

// A Cell is one comparison.
type Cell struct {
	Work Work
	N    int // keys per filter
}

func (c Cell) String() string { return fmt.Sprintf("%s, %s", c.Work, keys.CountN(c.N)) }

// benchmark returns the name that a contestant's turns have in Go's benchmark format.
func (c Cell) benchmark(contestant string) string {
	return fmt.Sprintf("%s%s/filter=%s/n=%d", strings.ToUpper(string(c.Work[:1])), c.Work[1:],
		contestant, c.N)
}

// A Config says what to compare.
type Config struct {
	Contestants []Contestant // the first one is the base of the ratios, and runs a second time
	Works       []Work
	Ns          []int // keys per filter
	Rounds      int
	Seed        int64
	Progress    report.Progress
}

// cells returns the cells, those of the same number of keys side by side: they share the keys.
func (c *Config) cells() (cells []Cell) {
	for _, n := range c.Ns {
		for _, work := range c.Works {
			cells = append(cells, Cell{work, n})
		}
	}
	return cells
}

// Validate returns an error that says what to pass instead if the config is out of bounds.
func (c *Config) Validate() error {
	if c.Rounds < 1 {
		return fmt.Errorf("--rounds %d: pass 1 or more", c.Rounds)
	}
	for _, n := range c.Ns {
		if n > 10_000_000 {
			return fmt.Errorf("--n %d: pass 10M or less", n)
		}
	}
	return nil
}

// Names returns the contestants in order, the base's second turn behind the base.
func (c *Config) Names() []string {
	base := c.Contestants[0].Name()
	names := []string{base, base + Again}
	for _, other := range c.Contestants[1:] {
		names = append(names, other.Name())
	}
	return names
}

// Again follows the base's name in its second turn.
const Again = "-again"

// Run measures all cells and returns the turns of those that it finished. The error is
// context.Cause if ctx ends, and wraps ErrWrong at the first wrong answer.
func (c *Config) Run(ctx context.Context) (results Results, err error) {
	rng := rand.New(rand.NewSource(c.Seed))
	var m *material
	cells := c.cells()
	for i, cell := range cells {
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		c.Progress(i, len(cells), cell.String())
		if m == nil || m.n != cell.N {
			m = nil // its keys may take 400 MB
			m = newMaterial(cell.N)
		}
		turns, err := c.measure(ctx, newInputs(cell, m, rng), rng)
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		if err != nil {
			return results, fmt.Errorf("%v: %w", cell, err)
		}
		results = append(results, turns...)
	}
	return results, nil
}

// measure takes the turns of a cell. It returns early, with what it has, if ctx ends.
func (c *Config) measure(ctx context.Context, in *inputs, rng *rand.Rand) (
	results Results, err error) {
	names := c.Names()
	takeTurn := []func() turn{nil} // the base has two
	for _, contestant := range c.Contestants {
		takeTurn = append(takeTurn, contestant.start(in))
	}
	takeTurn[0] = takeTurn[1]
	checks := map[string]uint32{} // by encoding
	for round := range c.rounds(in.Cell) {
		order := rng.Perm(len(names))
		if round == 0 {
			slices.Sort(order) // see Results
		}
		for _, i := range order {
			if ctx.Err() != nil {
				return results, nil
			}
			t := takeTurn[i]()
			err := in.verify(t, checks, c.Contestants[max(i-1, 0)].Encoding())
			if err != nil {
				return results, fmt.Errorf("%s: %w", names[i], err)
			}
			results = append(results, in.result(names[i], t))
		}
	}
	return results, nil
}

// verify compares a turn with what must be, and with the others of its encoding.
func (c Cell) verify(t turn, checks map[string]uint32, encoding string) error {
	if c.Work == Hit && t.check != uint32(t.keys) {
		return fmt.Errorf("%w: it lost %d of %d keys", ErrWrong, uint32(t.keys)-t.check, t.keys)
	}
	want, ok := checks[encoding]
	switch checks[encoding] = t.check; {
	case !ok || want == t.check:
		return nil
	case c.Work == Build:
		return fmt.Errorf("%w: its filters are not those of another contestant", ErrWrong)
	default:
		return fmt.Errorf("%w: %d matches, where there were %d in the same filters", ErrWrong,
			t.check, want)
	}
}

// result returns a turn as a line of Go's benchmark format.
func (c Cell) result(contestant string, t turn) *benchfmt.Result {
	return &benchfmt.Result{
		Name: benchfmt.Name(c.benchmark(contestant)), Iters: t.keys,
		Values: []benchfmt.Value{
			{Value: t.ns / 1e9, Unit: "sec/op", OrigValue: t.ns, OrigUnit: "ns/op"},
		},
	}
}

// rounds returns the number of rounds. Building a large filter takes as long as many lookups.
func (c *Config) rounds(cell Cell) int {
	if cell.N >= large && cell.Work == Build {
		return (c.Rounds + 9) / 10
	}
	return c.Rounds
}
