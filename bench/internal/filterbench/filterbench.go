// Package filterbench compares implementations of filters with each other, outside of any engine.
//
// Contestants are compared by turns: each cell (a work, a number of keys, a length, a mix of
// present and absent keys) has rounds, in each of which every contestant has one turn, in random
// order. A turn takes a few milliseconds, and a contestant's time is that of the fastest tenth of
// its turns: other programs on the machine slow down some turns, and leave others alone. The base
// contestant runs twice, and the ratio of the two is noise.
package filterbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"time"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// ErrWrong is the error of a contestant that lost a key, or did not answer as another one of the
// same encoding.
var ErrWrong = errors.New("wrong answer")

// A Config says what to compare.
type Config struct {
	Contestants []Contestant // the first one is the base of the ratios, and runs a second time
	Cells       []Cell       // those of the same keys side by side, which saves time
	Rounds      int
	ManyBytes   int // of filters that Many asks
	Seed        int64
	Progress    report.Progress
}

// A Result is the nanoseconds per key of every turn.
type Result struct {
	Cell
	Times map[string][]float64 // by contestant, a time for each round
}

// ns returns the time of a contestant.
func (r Result) ns(contestant string) float64 { return Fastest(r.Times[contestant]) }

// Fastest returns the mean of the fastest tenth of times, of which there is at least one.
func Fastest(times []float64) float64 {
	times = slices.Sorted(slices.Values(times))
	sum, n := 0.0, (len(times)+9)/10
	for _, ns := range times[:n] {
		sum += ns
	}
	return sum / float64(n)
}

// Names returns the contestants in order, the base's second turn behind the base.
func (c *Config) Names() []string {
	base := c.Contestants[0].Name()
	names := []string{base, base + " again"}
	for _, other := range c.Contestants[1:] {
		names = append(names, other.Name())
	}
	return names
}

// Run measures all cells and returns those that it finished. The error is context.Cause if ctx
// ends, and wraps ErrWrong at the first wrong answer.
func (c *Config) Run(ctx context.Context) (results []Result, err error) {
	rng := rand.New(rand.NewSource(c.Seed))
	var m *material
	for i, cell := range c.Cells {
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		c.Progress(i, len(c.Cells), cell.String())
		if of := cell.material(); m == nil || m.materialOf != of {
			m = nil // its keys may take a gigabyte
			for _, contestant := range c.Contestants {
				if err := contestant.SetKeys(nil); err != nil {
					return results, err
				}
			}
			m = newMaterial(of)
		}
		result, err := c.measure(ctx, cell, m, rng)
		if ctx.Err() != nil { // rather than an error of a contestant that was interrupted as well
			return results, context.Cause(ctx)
		}
		if err != nil {
			return results, fmt.Errorf("%v: %w", cell, err)
		}
		results = append(results, result)
	}
	return results, nil
}

// measure measures a cell. It returns early, with what it has, if ctx ends.
func (c *Config) measure(ctx context.Context, cell Cell, m *material, rng *rand.Rand) (
	Result, error) {
	result := Result{cell, map[string][]float64{}}
	take, err := c.prepare(cell, m, rng)
	if err != nil {
		return result, err
	}
	names := c.Names()
	for range c.rounds(cell) {
		for _, i := range rng.Perm(len(names)) {
			if ctx.Err() != nil {
				return result, nil
			}
			perKey, err := take(c.Contestants[max(i-1, 0)])
			if err != nil {
				return result, fmt.Errorf("%s: %w", names[i], err)
			}
			result.Times[names[i]] = append(result.Times[names[i]], perKey)
		}
	}
	return result, nil
}

// rounds returns the number of rounds. Building a large filter takes as long as many lookups.
func (c *Config) rounds(cell Cell) int {
	if cell.N >= large && cell.Work == Build {
		return (c.Rounds + 9) / 10
	}
	return c.Rounds
}

// A large filter leaves nothing in the caches that the next one to be built would find there.
const large = 1_000_000

// A turn of a contestant returns the nanoseconds per key.
type turn func(Contestant) (float64, error)

// prepare gives the contestants their keys, checks their answers, and returns how each has its
// turn.
func (c *Config) prepare(cell Cell, m *material, rng *rand.Rand) (turn, error) {
	if cell.Work == Build {
		return c.prepareBuild(cell, m)
	}
	picked := newQueries(cell, m.materialOf, rng)
	queries, want := map[string]*Queries{}, map[string][]bool{} // by encoding
	for _, contestant := range c.Contestants {
		encoding := contestant.Encoding()
		if queries[encoding] == nil {
			filters, err := m.filtersOf(contestant)
			if err != nil {
				return nil, err
			}
			manyBytes := 0
			if cell.Work == Many {
				manyBytes = c.ManyBytes
			}
			queries[encoding] = picked.in(filters, manyBytes)
		}
		q := queries[encoding]
		if err := contestant.SetQueries(q); err != nil {
			return nil, err
		}
		answers, err := contestant.Answers()
		if err != nil {
			return nil, err
		}
		if err := q.check(answers, want[encoding]); err != nil {
			return nil, fmt.Errorf("%s: %w", contestant.Name(), err)
		}
		want[encoding] = answers
	}
	return func(contestant Contestant) (float64, error) {
		// A turn takes passes of its own: their filters are in no cache because of another turn.
		q := queries[contestant.Encoding()]
		d, matches, err := contestant.Lookup(q.nextPasses(2))
		if err != nil {
			return 0, err
		}
		if before := countTrue(want[contestant.Encoding()]); matches != before {
			return 0, fmt.Errorf("%w: %d matches while timed, %d before", ErrWrong, matches, before)
		}
		return perKey(d, len(q.Keys)), nil
	}, nil
}

func countTrue(answers []bool) (n int) {
	for _, may := range answers {
		if may {
			n++
		}
	}
	return n
}

func (c *Config) prepareBuild(cell Cell, m *material) (turn, error) {
	built := map[string][][]byte{}
	for _, contestant := range c.Contestants {
		if err := contestant.SetKeys(m.keys); err != nil {
			return nil, err
		}
		filters, err := contestant.BuildFilters(cell.N)
		if err != nil {
			return nil, err
		}
		other := built[contestant.Encoding()]
		if other != nil && !slices.EqualFunc(filters, other, bytes.Equal) {
			return nil, fmt.Errorf("%s: %w: its filters are not those of another contestant",
				contestant.Name(), ErrWrong)
		}
		built[contestant.Encoding()] = filters
	}
	return func(contestant Contestant) (float64, error) {
		d, err := contestant.Build(cell.N)
		return perKey(d, len(m.keys)), err
	}, nil
}

func perKey(total time.Duration, keys int) float64 {
	return float64(total.Nanoseconds()) / float64(keys)
}
