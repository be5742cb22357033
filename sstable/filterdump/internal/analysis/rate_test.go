package analysis

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bounds are the rates from which the measured one is 1.96 standard errors away.
func TestRateBounds(t *testing.T) {
	for _, c := range []struct{ asked, passed int64 }{{1, 0}, {1, 1}, {10, 3}, {100, 0}, {100, 100}, {65536, 550}, {65536, 1}} {
		r := newRate(c.asked, c.passed)
		require.Equal(t, float64(c.passed)/float64(c.asked), r.Rate)
		for bound, outermost := range map[float64]float64{r.Low: 0, r.High: 1} {
			if bound != outermost {
				require.InDelta(t, 1.96*math.Sqrt(bound*(1-bound)/float64(c.asked)), math.Abs(bound-r.Rate), 1e-9, "%+v", r)
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

// The bounds hold the true rate about 95 times in 100.
func TestRateCoverage(t *testing.T) {
	rng := seeded(t, 1)
	for _, p := range []float64{0.01, 0.2} {
		const times, asked = 4000, 500
		held := 0
		for range times {
			passed := int64(0)
			for range asked {
				if rng.Float64() < p {
					passed++
				}
			}
			if r := newRate(asked, passed); r.Low <= p && p <= r.High {
				held++
			}
		}
		require.InDelta(t, 0.95, float64(held)/times, 0.02, "rate %v", p)
	}
}

func TestClearlyAbove(t *testing.T) {
	for _, c := range []struct {
		asked, passed, otherAsked, otherPassed int64
		want                                   bool
	}{
		{1000, 100, 1000, 10, true},
		{1000, 10, 1000, 100, false},
		{1000, 20, 1000, 10, false},     // 1.8 standard errors
		{10000, 200, 10000, 100, true},  // twice as much, 5.8 standard errors
		{10000, 199, 10000, 100, false}, // less than twice as much
		{100000, 520, 100000, 10, true},
		{100000, 500, 100000, 10, false}, // less than half a per cent
		{100, 3, 100000, 1000, false},    // few were asked
		{100, 8, 100000, 1000, true},
		{1000, 100, 1000, 0, true},
		{0, 0, 1000, 10, false},
		{1000, 100, 0, 0, false},
		{1000, 0, 1000, 0, false},
	} {
		require.Equal(t, c.want, newRate(c.asked, c.passed).clearlyAbove(newRate(c.otherAsked, c.otherPassed)), "%+v", c)
	}
}

func TestRateText(t *testing.T) {
	for want, r := range map[string]Rate{
		"14.2 %":           newRate(10000, 1423),
		"100 %":            newRate(10, 10),
		"1.1 %":            newRate(1000, 11),
		"0.84 %":           newRate(10000, 84),
		"0.0015 %":         newRate(65536, 1),
		"less than 0.38 %": newRate(1000, 0),
		"0 %":              newRate(0, 0),
		"less than 79.3 %": newRate(1, 0),
	} {
		require.Equal(t, want, r.String())
	}
}
