package filters

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

var decimals = keys.ShapesOf("decimal", "decimal15", "bigendian")

func silent(int, int, string) {}

// Filters get sorted keys, and the rate is that of all absent keys. A lost key ends the run.
func TestRates(t *testing.T) {
	const queries = 20_000
	built, lost := 0, 0
	third, newPolicy := kind(t, "bloom"), kind(t, "bloom").New
	third.Name = "third"
	third.New = func() *Policy {
		p := newPolicy()
		add, count := p.Add, p.Count
		p.Add = func(all [][]byte) {
			require.True(t, slices.IsSortedFunc(all, bytes.Compare), "as an engine adds keys")
			built++
			add(all)
		}
		p.Count = func(filter []byte, all [][]byte) int {
			if len(all) == 30 { // the present ones
				return count(filter, all) - lost
			}
			return len(all) / 3
		}
		return p
	}
	rates, err := MeasureRates([]Kind{third}, keys.ShapesOf("random"), []int{30}, queries, silent)
	require.NoError(t, err)
	require.Len(t, rates, 1)
	r := rates[0]
	r.Bound = 0.02
	require.InDelta(t, 1./3, r.FPR, 0.05)
	require.InDelta(t, queries, r.Queries, 512)
	require.GreaterOrEqual(t, built, 10)
	require.Equal(t, built, r.Filters)
	require.Equal(t, 39.0, r.FilterBytes, "300 bits, and k")
	require.Regexp(t, `\| third \| random \| 3\d\.\d ±2% \|\n\| third \| bits per key \| 10.40 \|`+
		`\n\| third \| bound \| 2.0 \|$`,
		RateTable([]Rate{r}).Markdown())
	lost = 1
	_, err = MeasureRates([]Kind{third}, keys.ShapesOf("random"), []int{30}, queries, silent)
	require.EqualError(t, err, "third, 30 random keys: a key is lost: 1 of 30")
	require.ErrorIs(t, err, keys.ErrLost)
}

// Intervals are Wilson's, from R's binom::binom.wilson: equal answers do not give one without
// width. If filters differ, 1,000 answers count as 36: the rates 0.4 and 0 of ten filters have a
// variance of 0.0444, and their mean a tenth of it.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		filters, queries int
		positives        [2]int // of filters in turn
		low, high        float64
	}{
		{1, 336, [2]int{336}, 0.98870, 1}, {1, 300, [2]int{0}, 0, 0.01264},
		{1, 1, [2]int{1}, 0.20654, 1}, {1, 100, [2]int{10}, 0.05523, 0.17437},
		{10, 100, [2]int{40, 0}, 0.10140, 0.35646},
	} {
		var r Rate
		for i := range c.filters {
			r.add(0, c.queries, c.positives[i%2])
		}
		require.InDelta(t, c.low, r.Low, 1e-5)
		require.InDelta(t, c.high, r.High, 1e-5)
	}
}

// The rates of a cell are always the same, whatever is measured beside.
func TestDeterministic(t *testing.T) {
	kinds := []Kind{kind(t, "bloom"), kind(t, "ribbon")}
	measured := func(kinds []Kind, shapes []keys.Shape, ns ...int) []Rate {
		rates, err := MeasureRates(kinds, shapes, ns, 2000, silent)
		require.NoError(t, err)
		return rates
	}
	all := measured(kinds, decimals, 8, 51, 1500)
	require.Len(t, all, 2*3*3)
	require.Subset(t, all, measured(kinds[1:], decimals, 1500, 8))
	require.Subset(t, all, measured(kinds, decimals[2:], 51))
}

// A rate may be 5 standard errors above its bound, and no more, and only where there is a bound.
// With 4M queries the error is 49.7 a million at the bound of 1 %.
func TestBounds(t *testing.T) {
	for _, excess := range []int{-1000, 5 * 49, 6 * 50} { // a million
		r := Rate{Kind: "bounded", Shape: "url", N: 8}
		for range 4 {
			r.add(0, 1_000_000, 10_000+excess)
		}
		require.NoError(t, CheckBounds([]Rate{r}))
		r.Bound = 0.01
		err := CheckBounds([]Rate{r})
		require.Equal(t, excess > 5*50, errors.Is(err, ErrBound), excess)
		if err != nil {
			require.ErrorContains(t, err, ": bounded, 8 url keys: 1.03 % (1.02 to 1.04), not 1 %")
		}
	}
}
