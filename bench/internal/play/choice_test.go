package play

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// The rates and the bits per key that the page shows are those of package policy.
func TestRates(t *testing.T) {
	p, err := policy.NewBloom(8, policy.WithTuning())
	require.NoError(t, err)
	tuned, err := rate(context.Background(), &choice{"bloom+tuned", 8, 1000})
	require.NoError(t, err)
	require.Equal(t, p.FPP(1000), tuned)
	for kind, n := range map[string]int{"ribbon": 100_000, "bloom": 100} {
		bits, err := bitsFor(context.Background(), &choice{kind, 10, n})
		require.NoError(t, err)
		enough, _ := rate(context.Background(), &choice{kind, bits, n})
		fewer, _ := rate(context.Background(), &choice{kind, bits - 0.1, n})
		require.LessOrEqual(t, enough, 0.01)
		require.Greater(t, fewer, 0.01)
	}
}

func TestRefusedChoices(t *testing.T) {
	for message, c := range map[string]choice{
		"0 keys in a filter: pass 1 to":      {"bloom", 10, 0},
		"100001 keys in a filter: pass 1 to": {"bloom", 10, maxN + 1},
		"1 bits per key":                     {"ribbon", 1, 10},
		"NaN bits per key":                   {"bloom", math.NaN(), 10},
		"20.5 bits per key: pass at most 20": {"bloom", 20.5, 10},
		`no kind "bloom:1000,name=x"`:        {"bloom:1000,name=x", 1, 10},
	} {
		_, err := rate(context.Background(), &c)
		require.ErrorContains(t, err, message)
	}
	left, cancel := context.WithCancel(context.Background()) // as of a page
	cancel()
	_, err := bitsFor(left, &choice{"bloom", 10, 10})
	require.ErrorIs(t, err, context.Canceled)
}
