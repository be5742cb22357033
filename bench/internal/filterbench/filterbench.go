// Package filterbench compares the speed of filters with each other, outside of any engine.
//
// Contestants are interleaved: each cell (a work and a number of keys) has rounds, in each of
// which every contestant has one turn, in random order. A turn takes a few milliseconds. Other
// programs on the machine slow down some turns and leave others alone, so the fastest of several
// rounds are compared. The base contestant runs twice, and the ratio of the two is noise.
package filterbench

import (
	"context"
	"fmt"
	"math/rand"
	"runtime"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// What is timed.
const (
	Hit   = "hit"   // lookups of present keys in one filter
	Miss  = "miss"  // lookups of absent keys in one filter
	Build = "build" // building filters
)

// A Cell is one comparison.
type Cell struct {
	Work string
	N    int // keys per filter
}

func (c Cell) String() string { return fmt.Sprintf("%s, %s", c.Work, keys.CountN(c.N)) }

// A Config says what to compare.
type Config struct {
	Kinds    []Kind // the first one is the base of the ratios, and runs a second time
	Works    []string
	Ns       []int // keys per filter
	Rounds   int
	Progress report.Progress
}

// again follows the base's name in its second turn.
const again = "-again"

// contestants returns the base, its second turn, and the others.
func (c *Config) contestants() (all []*contestant) {
	for i, k := range c.Kinds {
		all = append(all, &contestant{k.Name, k.New()})
		if i == 0 {
			all = append(all, &contestant{k.Name + again, all[0].filter})
		}
	}
	return all
}

// Run measures all cells and returns the records of those that it finished. The error says what to
// pass instead if the config is out of bounds, is context.Cause if ctx ends, and wraps keys.ErrLost
// at the first lost key.
func (c *Config) Run(ctx context.Context) (records []Record, err error) {
	if c.Rounds < 1 {
		return nil, fmt.Errorf("--rounds %d: pass 1 or more", c.Rounds)
	}
	if most := slices.Max(c.Ns); most > 10_000_000 {
		return nil, fmt.Errorf("--n %d: pass 10M or less", most)
	}
	rng := rand.New(rand.NewSource(1))
	for i, n := range c.Ns {
		for k, work := range c.Works {
			cell := Cell{work, n}
			c.Progress(i*len(c.Works)+k, len(c.Ns)*len(c.Works), cell.String())
			measured, err := c.measure(ctx, newInputs(cell, rng), rng)
			if ctx.Err() != nil {
				return records, context.Cause(ctx)
			}
			if err != nil {
				return records, fmt.Errorf("%v: %w", cell, err)
			}
			records = append(records, measured...)
		}
	}
	return records, nil
}

// measure takes the turns of a cell. It returns early if ctx ends.
func (c *Config) measure(ctx context.Context, in *inputs, rng *rand.Rand) ([]Record, error) {
	runtime.LockOSThread() // its clock is read
	defer runtime.UnlockOSThread()
	contestants := c.contestants()
	records := make([]Record, len(contestants))
	var turns []turn
	for i, one := range contestants {
		records[i] = Record{Work: in.Work, N: in.N, Contestant: one.name, Base: contestants[0].name}
		turns = append(turns, one.start(in))
	}
	for range c.rounds(in.Cell) {
		for _, i := range rng.Perm(len(contestants)) {
			if ctx.Err() != nil {
				return nil, nil
			}
			ns, err := turns[i]()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contestants[i].name, err)
			}
			records[i].Times = append(records[i].Times, ns)
		}
	}
	for i := range records {
		records[i].compare(records[0].Times)
	}
	return records, nil
}

// rounds returns the number of rounds. Building a large filter takes as long as many lookups.
func (c *Config) rounds(cell Cell) int {
	if cell.N >= large && cell.Work == Build {
		return (c.Rounds + 9) / 10
	}
	return c.Rounds
}
