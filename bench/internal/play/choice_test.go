package play

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func pointOf(t *testing.T, kind string, bits float64, n int) *point {
	p, err := measure(context.Background(), &choice{kind, bits, n})
	require.NoError(t, err)
	return p
}

// The trials and their mean lie around the computed curve, as near as their number of lookups lets
// them: within five standard errors.
func TestTrials(t *testing.T) {
	squares := 0.0
	for _, c := range []choice{
		{"ribbon", 10, 3000}, {"ribbon", 7.5, 12_000}, {"bloom", 10, 3000}, {"bloom+tuned", 8, 3000},
	} {
		p := pointOf(t, c.Kind, c.Bits, c.N)
		deviation := math.Sqrt(p.Computed * (1 - p.Computed) / float64(lookups(p.Computed)))
		mean := 0.0
		for _, rate := range p.Trials {
			require.InDelta(t, p.Computed, rate, 5*deviation, "%v", c)
			mean += rate / trials
			squares += math.Pow((rate-p.Computed)/deviation, 2)
		}
		require.InDelta(t, p.Computed, mean, 5*deviation/math.Sqrt(trials), "%v", c)
	}
	// Chi-square of the 40 trials. Other seeds would give more or less once in 500 times.
	require.Greater(t, squares, 17.9, "trials have keys of their own")
	require.Less(t, squares, 73.4, "lookups have keys of their own")
}

// The bits per key that the page advises are those of package policy.
func TestBitsFor(t *testing.T) {
	for kind, n := range map[string]int{"ribbon": 100_000, "bloom": 100} {
		bits, err := bitsFor(context.Background(), &choice{kind, 10, n})
		require.NoError(t, err)
		require.LessOrEqual(t, pointOf(t, kind, bits, n).Computed, 0.01)
		require.Greater(t, pointOf(t, kind, bits-0.1, n).Computed, 0.01)
	}
}

func TestRefusedChoices(t *testing.T) {
	for message, c := range map[string]choice{
		"0 keys in a filter: pass 1 to":      {"bloom", 10, 0},
		"100001 keys in a filter: pass 1 to": {"bloom", 10, maxN + 1},
		"1 bits per key":                     {"ribbon", 1, 10},
		"NaN bits per key":                   {"bloom", math.NaN(), 10},
		"20.5 bits per key: pass at most 20": {"bloom", 20.5, 10},
		`no kind "goleveldb"`:                {"goleveldb", 10, 10},
		`no kind "bloom:1000,name=x"`:        {"bloom:1000,name=x", 1, 10},
	} {
		_, err := measure(context.Background(), &c)
		require.ErrorContains(t, err, message)
		_, err = compare(context.Background(), &c)
		require.ErrorContains(t, err, message)
	}
	left, cancel := context.WithCancel(context.Background()) // as of a page
	cancel()
	_, err := measure(left, &choice{"bloom", 10, 10})
	require.ErrorIs(t, err, context.Canceled)
	_, err = compare(left, &choice{"bloom", 10, 10})
	require.ErrorIs(t, err, context.Canceled)
}
