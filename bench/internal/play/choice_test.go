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
	require.Len(t, p.Trials, trials)
	return p
}

// The trials and their mean lie around the computed curve, as near as their number of lookups lets
// them: within five standard errors.
func TestTrials(t *testing.T) {
	for _, c := range []choice{
		{"ribbon", 10, 3000}, {"ribbon", 7.5, 12_000}, {"bloom", 10, 3000}, {"tuned", 8, 3000},
	} {
		p := pointOf(t, c.Kind, c.Bits, c.N)
		deviation := math.Sqrt(p.Computed * (1 - p.Computed) / float64(lookups(p.Computed)))
		mean := 0.0
		for _, rate := range p.Trials {
			require.InDelta(t, p.Computed, rate, 5*deviation, "%v", c)
			mean += rate / trials
		}
		require.InDelta(t, p.Computed, mean, 5*deviation/math.Sqrt(trials), "%v", c)
	}
}

func TestPointIsAlwaysTheSame(t *testing.T) {
	p := pointOf(t, "tuned", 9, 500)
	require.Equal(t, p, pointOf(t, "tuned", 9, 500))
	require.NotEqual(t, p.Trials, pointOf(t, "tuned", 9, 501).Trials)
}

// LevelDB's format does not reach the textbook's formula, unless k is 1; ribbon does.
func TestTextbook(t *testing.T) {
	bloom := pointOf(t, "bloom", 10, 1000)
	require.InEpsilon(t, math.Pow(1-math.Exp(-0.6), 6), bloom.Textbook, 1e-9)
	one := pointOf(t, "bloom", 2, 10_000)
	require.InEpsilon(t, one.Textbook, one.Computed, 0.02)
	ribbon := pointOf(t, "ribbon", 10, 1000)
	require.Less(t, 5*ribbon.Computed, ribbon.Textbook)
	require.Equal(t, bloom.Textbook, ribbon.Textbook)
}

func TestRefusedChoices(t *testing.T) {
	for message, c := range map[string]choice{
		"0 keys in a filter: pass 1 to":      {"bloom", 10, 0},
		"150001 keys in a filter: pass 1 to": {"bloom", 10, maxN + 1},
		"0 bits per key":                     {"tuned", 0, 10},
		"1 bits per key":                     {"ribbon", 1, 10},
		"NaN bits per key":                   {"bloom", math.NaN(), 10},
		`"cuckoo`:                            {"cuckoo", 10, 10},
		`"goleveldb`:                         {"goleveldb", 10, 10},
	} {
		_, err := measure(context.Background(), &c)
		require.ErrorContains(t, err, message)
		_, err = compare(context.Background(), &c)
		require.ErrorContains(t, err, message)
	}
}

// A watched context requires that its reply is the only one that computes for long. It ends when it
// is asked.
type watched struct {
	context.Context
	t *testing.T
}

func (w watched) Err() error {
	require.False(w.t, busy.TryLock())
	return context.Canceled
}

func TestBusy(t *testing.T) {
	ctx, c := watched{context.Background(), t}, &choice{"ribbon", 7.5, 3000}
	_, err := measure(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	_, err = compare(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, busy.TryLock(), "others may compute")
	busy.Unlock()
}
