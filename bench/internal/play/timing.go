package play

import (
	"context"
	"runtime"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/clock"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

const (
	turns     = 15
	timedKeys = 1 << 16 // in a turn at least: more than a branch predictor can learn
)

// A work is what filters do, and goleveldb's own with as many bits per key, rounded up, do too.
type work struct {
	Name   string    `json:"name"`
	Ns     float64   `json:"ns"`     // median of the turns, per key
	Base   float64   `json:"base"`   // goleveldb's
	Ratios []float64 `json:"ratios"` // of the turns, sorted: times as fast as goleveldb's
}

// compare lets both take turns. It ends after the work in which ctx ends.
func compare(ctx context.Context, c *choice) (all []work, err error) {
	if _, err := c.policy(); err != nil {
		return nil, err
	}
	busy.Lock()
	defer busy.Unlock()
	var present, absent [][]byte // in random order, as their bytes are random
	count := (timedKeys + c.N - 1) / c.N * c.N
	for i := range uint64(count) {
		present = append(present, random.Append(nil, seed, i))
		absent = append(absent, random.Append(nil, seed, uint64(count)+i))
	}
	var both [2][]func()
	for i, name := range []string{c.Kind, "goleveldb"} {
		k, err := filterbench.FromString(name, c.Bits)
		if err != nil {
			return nil, err
		}
		both[i] = works(k.New(), c.N, present, absent)
	}
	for i, name := range []string{"builds", "hits", "misses"} {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		all = append(all, takeTurns(name, count, both[0][i], both[1][i]))
	}
	return all, nil
}

// works returns what builds filters of n keys each, and looks up present keys and absent ones.
func works(f *filterbench.Filter, n int, present, absent [][]byte) []func() {
	filters := make([][]byte, len(present)/n)
	each := func(keys [][]byte, do func(i int, part [][]byte)) func() {
		return func() {
			for i := range filters {
				do(i, keys[i*n:(i+1)*n])
			}
		}
	}
	build := func(i int, part [][]byte) { filters[i] = append(filters[i][:0], f.Build(part)...) }
	lookup := func(i int, part [][]byte) { f.Count(filters[i], part) }
	return []func(){each(present, build), each(present, lookup), each(absent, lookup)}
}

// takeTurns times two contestants. Each time another one begins.
func takeTurns(name string, keys int, contestants ...func()) work {
	var ns [2][]float64
	var ratios []float64
	runtime.LockOSThread() // its clock is read
	defer runtime.UnlockOSThread()
	for turn := range turns {
		for i := range contestants {
			which, start := (turn+i)%2, clock.Now()
			contestants[which]()
			ns[which] = append(ns[which], float64(clock.Now()-start)/float64(keys))
		}
		ratios = append(ratios, ns[1][turn]/ns[0][turn])
	}
	slices.Sort(ratios)
	return work{name, report.Median(ns[0]), report.Median(ns[1]), ratios}
}
