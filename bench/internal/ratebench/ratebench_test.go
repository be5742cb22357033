package ratebench

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

func kinds(t *testing.T, bits float64, names ...string) (all []filterbench.Kind) {
	for _, name := range names {
		k, err := filterbench.FromString(name, bits)
		require.NoError(t, err)
		all = append(all, k)
	}
	return all
}

func config(kinds ...filterbench.Kind) *Config {
	return &Config{Kinds: kinds, Sources: sources(keys.Densities), Ns: []int{20},
		Queries: 10_000, Seed: 1, Progress: func(int, int, string) {}}
}

// sources returns those shapes, or all, with those densities.
func sources(densities []keys.Density, names ...string) (all []keys.Source) {
	for _, s := range keys.Shapes {
		if len(names) == 0 || slices.Contains(names, s.Name) {
			all = append(all, s.Sources(densities...)...)
		}
	}
	return all
}

// fake returns a kind whose filters know their keys, which come sorted, and whose false-positive
// rate is known: rateOf each filter, of a random number that is the filter's.
func fake(name string, rateOf func(filter uint64) float64) filterbench.Kind {
	random := func(key []byte, filter uint64) uint64 {
		h := fnv.New64a()
		h.Write(key)
		return keys.Mix(filter ^ keys.Mix(h.Sum64()))
	}
	return filterbench.Kind{Name: name, Bits: 10, New: func() *filterbench.Filter {
		var known map[string]bool
		var filter uint64
		return &filterbench.Filter{
			Build: func(all [][]byte) []byte {
				if !slices.IsSortedFunc(all, bytes.Compare) {
					panic("keys are not sorted")
				}
				known, filter = map[string]bool{}, 0
				for _, key := range all {
					known[string(key)] = true
					filter = random(key, filter)
				}
				return nil
			},
			Count: func(_ []byte, all [][]byte) (n int) {
				for _, key := range all {
					if known[string(key)] ||
						float64(random(key, filter)>>11) < rateOf(filter)*(1<<53) {
						n++
					}
				}
				return n
			},
		}
	}}
}

func always(rate float64) func(uint64) float64 { return func(uint64) float64 { return rate } }

// Rates and their intervals are what they are known to be. Intervals depend on whether filters
// differ: a half has a rate of 0.4 and the others of 0.
func TestEstimates(t *testing.T) {
	c := config(fake("equal", always(0.03)),
		fake("varying", func(filter uint64) float64 { return 0.4 * float64(filter%2) }))
	c.Queries = 20_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, results, 2*len(c.Cells()))
	require.Len(t, c.Cells(), 2+8*4)
	covered, coveredVarying := 0, 0
	for i := 0; i < len(results); i += 2 {
		equal, varies := results[i], results[i+1]
		require.Equal(t, equal.Queries, varies.Queries)
		require.GreaterOrEqual(t, equal.Filters, 10, "%v", equal)
		require.GreaterOrEqual(t, equal.Queries, c.Queries, "%v", equal)
		require.Less(t, equal.Queries, c.Queries+10*512, "%v", equal)
		if equal.Low <= 0.03 && 0.03 <= equal.High {
			covered++
			require.Less(t, equal.High-equal.Low, 5*math.Sqrt(0.03*0.97/float64(equal.Queries)))
		}
		if varies.Low <= 0.2 && 0.2 <= varies.High {
			coveredVarying++
		}
	}
	// 95 % of the intervals contain the rate, give or take 4 standard errors: of 34 cells 32.3 and
	// 1.3. The variance of few filters is uncertain.
	require.GreaterOrEqual(t, float64(covered), 32.3-4*1.3)
	require.GreaterOrEqual(t, float64(coveredVarying), 0.90*34-4*1.75)
}

// Equal answers do not give an interval without width.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		queries, positives int
		low, high          float64 // Wilson's, from R's binom::binom.wilson
	}{
		{336, 336, 0.98870, 1},
		{300, 0, 0, 0.01264},
		{1, 1, 0.20654, 1},
		{100, 10, 0.05523, 0.17437},
	} {
		var s sums
		s.add(c.queries, c.positives)
		low, high := wilson(s.mean(), s.effective())
		require.InDelta(t, c.low, low, 1e-5)
		require.InDelta(t, c.high, high, 1e-5)
	}
}

// The same seed gives the same rates and the same number of queries, whatever is measured beside;
// another seed gives others.
func TestDeterministic(t *testing.T) {
	run := func(change func(*Config)) map[string]Record { // by cell and kind
		c := config(kinds(t, 10, "bloom", "tuned", "ribbon")...)
		c.Ns, c.Queries = []int{8, 51, 1500}, 2000
		c.Sources = sources(keys.Densities, "random", "decimal", "url")
		change(c)
		results, err := c.Run(context.Background())
		require.NoError(t, err)
		all := map[string]Record{}
		for _, r := range results {
			all[fmt.Sprint(r.Kind, r.keys(), r.N)] = r
		}
		return all
	}
	first := run(func(*Config) {})
	require.Equal(t, first, run(func(*Config) {}))
	for name, change := range map[string]func(*Config){
		"fewer cells":          func(c *Config) { c.Sources, c.Ns = c.Sources[1:], []int{51} },
		"one kind, and a fake": func(c *Config) { c.Kinds[0] = fake("fake", always(1)) },
	} {
		same := 0
		for cell, rate := range run(change) {
			if _, ok := first[cell]; ok {
				require.Equal(t, first[cell], rate, "%s: %s", name, cell)
				same++
			}
		}
		require.Greater(t, same, 10, name)
	}
	same := 0
	for cell, rate := range run(func(c *Config) { c.Seed = 2 }) {
		if rate.FalsePositives == first[cell].FalsePositives {
			same++
		}
	}
	require.Less(t, same, len(first)/3, "rates of few false positives may be the same by chance")
}

func TestFaults(t *testing.T) {
	losing := fake("losing", always(0))
	losing.New = func() *filterbench.Filter {
		f := fake("losing", always(0)).New()
		f.Count = func([]byte, [][]byte) int { return 0 }
		return f
	}
	_, err := config(fake("sound", always(0.1)), losing).Run(context.Background())
	require.ErrorIs(t, err, keys.ErrLost)
	require.ErrorContains(t, err, "losing: a key is lost: 20 of 20")
}

// A rate may be 5 standard errors above its bound, and no more, and only where there is a bound.
// With 4M queries the error is 49.7 a million at the bound of 1 %.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		falsePositives int // a million
		bound          float64
		broken         bool
	}{
		{9000, 0.01, false},
		{10_000 + 5*49, 0.01, false},
		{10_000 + 6*50, 0.01, true},
		{900_000, 0, false},
	} {
		promised := func(int) float64 { return c.bound }
		s := &sampler{Kind: filterbench.Kind{Name: "bounded", Bits: 10, Promised: promised}}
		for range 4 {
			s.add(1_000_000, c.falsePositives)
		}
		err := CheckBounds([]Record{s.record(Cell{sources(keys.Densities, "decimal")[0], 1000})})
		if !c.broken {
			require.NoError(t, err, c)
			continue
		}
		require.ErrorIs(t, err, ErrBound)
		require.ErrorContains(t, err, ": bounded, 1000 decimal alternating keys, 10 bits per key: ")
	}
}
