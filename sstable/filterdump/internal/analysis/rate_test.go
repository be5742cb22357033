package analysis

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bounds are the rates from which the measured one is 1.96 standard errors away.
func TestRateBounds(t *testing.T) {
	for _, c := range []struct{ asked, passed int64 }{{1, 0}, {1, 1}, {10, 3}, {100, 0}, {100, 100},
		{65536, 550}, {65536, 1}} {
		r := newRate(c.asked, c.passed)
		require.Equal(t, float64(c.passed)/float64(c.asked), r.Rate)
		for bound, outermost := range map[float64]float64{r.Low: 0, r.High: 1} {
			if bound != outermost {
				require.InDelta(t, 1.96*math.Sqrt(bound*(1-bound)/float64(c.asked)),
					math.Abs(bound-r.Rate), 1e-9, "%+v", r)
			}
		}
		require.LessOrEqual(t, r.Low, r.Rate)
		require.GreaterOrEqual(t, r.High, r.Rate)
		require.Less(t, r.Low, r.High)
		require.Equal(t, c.passed == 0, r.Low == 0)
		require.Equal(t, c.passed == c.asked, r.High == 1)
	}
	require.Zero(t, newRate(0, 0))
}

func TestNumbers(t *testing.T) {
	require.Equal(t, "0 tables", Count(0, "table"))
	require.Equal(t, "1 entry", Count(1, "entry", "entries"))
	require.Equal(t, "1,234,567 entries", Count(int64(1234567), "entry", "entries"))
	require.Equal(t, "0.00", Percent(0))
	require.Equal(t, "0.0034", Percent(0.0000341))
	require.Equal(t, "0.10", Percent(0.001))
	require.Equal(t, "12.35", Percent(0.12345))
	require.Equal(t, "1.00 % [0.50 to 2.00]",
		Rate{Rate: 0.01, Low: 0.005, High: 0.02}.String())
}
