package filters

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

var decimals = keys.Sources([]string{"decimal"}, []string{"even", "63%", "10%", "beyond"})

// fake returns a kind whose false-positive rate is known: rateOf each filter, of a random number
// that is the filter's. The first key is the seed.
func fake(t *testing.T, name string, rateOf func(filter uint64) float64) Kind {
	return changed(t, name, func(p *Policy) {
		var present [][]byte
		var rng *rand.Rand
		var rate float64
		p.Add = func(all [][]byte) {
			assert.True(t, slices.IsSortedFunc(all, bytes.Compare), "as an engine adds keys")
			present = all
			rng = rand.New(rand.NewPCG(1, binary.BigEndian.Uint64(all[0][8:])))
			rate = rateOf(rng.Uint64())
		}
		p.Count = func(_ []byte, all [][]byte) (n int) {
			if len(all) == len(present) && &all[0] == &present[0] {
				return len(all)
			}
			for range all {
				if rng.Float64() < rate {
					n++
				}
			}
			return n
		}
	})
}

// Rates and their intervals are what they are known to be. Intervals depend on whether filters
// differ: a half has a rate of 0.4 and the others of 0.
func TestEstimates(t *testing.T) {
	const queries = 20_000
	kinds := []Kind{fake(t, "equal", func(uint64) float64 { return 0.03 }),
		fake(t, "varying", func(filter uint64) float64 { return 0.4 * float64(filter%2) })}
	ns := []int{16, 17, 18, 19, 20, 21, 22, 23}
	rates, err := MeasureRates(context.Background(), kinds, decimals, ns, queries, silent)
	require.NoError(t, err)
	require.Len(t, rates, 2*8*4)
	covered := map[string]float64{}
	for _, r := range rates {
		require.GreaterOrEqual(t, r.Filters, 10, "%v", r)
		require.InDelta(t, queries+5*512, r.Queries, 5*512, "%v", r)
		rate := map[string]float64{"equal": 0.03, "varying": 0.2}[r.Kind]
		if r.Low <= rate && rate <= r.High {
			covered[r.Kind]++
		}
		if r.Kind == "equal" {
			require.Less(t, r.High-r.Low, 6*math.Sqrt(0.03*0.97/float64(r.Queries)))
		}
	}
	// 95 % of the intervals contain the rate, give or take 4 standard errors: of 32 cells 30.4 and
	// 1.2. The variance of few filters is uncertain.
	require.GreaterOrEqual(t, covered["equal"], 30.4-4*1.2)
	require.GreaterOrEqual(t, covered["varying"], 0.90*32-4*1.7)
}

// Equal answers do not give an interval without width.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		queries, positives int
		low, high          float64 // Wilson's, from R's binom::binom.wilson
	}{
		{336, 336, 0.98870, 1}, {300, 0, 0, 0.01264},
		{1, 1, 0.20654, 1}, {100, 10, 0.05523, 0.17437},
	} {
		var r Rate
		r.add(0, c.queries, c.positives)
		require.InDelta(t, c.low, r.Low, 1e-5)
		require.InDelta(t, c.high, r.High, 1e-5)
	}
}

// The rates of a cell are always the same, whatever is measured beside.
func TestDeterministic(t *testing.T) {
	kinds := []Kind{kind(t, "bloom"), kind(t, "ribbon")}
	measured := func(kinds []Kind, sources []keys.Source, ns ...int) []Rate {
		rates, err := MeasureRates(context.Background(), kinds, sources, ns, 2000, silent)
		require.NoError(t, err)
		return rates
	}
	all := measured(kinds, decimals, 8, 51, 1500)
	require.Len(t, all, 2*4*3)
	require.Subset(t, all, measured(kinds[1:], decimals, 1500, 8))
	require.Subset(t, all, measured(kinds, decimals[2:], 51))
}

// A rate may be 5 standard errors above its bound, and no more, and only where there is a bound.
// With 4M queries the error is 49.7 a million at the bound of 1 %.
func TestBounds(t *testing.T) {
	for _, excess := range []int{-1000, 5 * 49, 6 * 50} { // a million
		r := Rate{Kind: "bounded", Shape: "url", Density: "63%", N: 8, Bits: 10}
		for range 4 {
			r.add(0, 1_000_000, 10_000+excess)
		}
		require.NoError(t, CheckBounds([]Rate{r}))
		r.Bound = 0.01
		err := CheckBounds([]Rate{r})
		require.Equal(t, excess > 5*50, errors.Is(err, ErrBound), excess)
		if err != nil {
			require.ErrorContains(t, err, ": bounded, 8 url 63% keys, 10 bits per key: 1.03 (")
		}
	}
}
