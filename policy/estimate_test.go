package policy

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

func mustParse(t testing.TB, filter []byte) Info {
	info, err := Parse(filter)
	require.NoError(t, err)
	return info
}

// The estimates against filters of random keys: their mean must lie within the model's stated
// error, give or take five standard errors of the simulation. ratio is how many times the
// estimated FPP the measured rate is.
func TestEstimates(t *testing.T) {
	exact := func(b float64) ourPolicy { return policytest.Must(NewBloom(b)) }
	ribbon := func(b float64) ourPolicy { return policytest.Must(NewRibbon(b)) }
	for _, c := range []struct {
		p                  ourPolicy
		n, filters, asked  int
		keysWithin         float64
		ratioFrom, ratioTo float64
	}{
		{exact(10), 20, 4000, 500, 0.02, 1.35, 1.45},
		{exact(20), 20, 4000, 500, 0.02, 15, 19},
		{exact(10), 1000, 200, 10_000, 0.02, 1, 1.1},
		{exact(1.5), 1000, 200, 2000, 0.02, 0.98, 1.02}, // k = 1: the model is exact
		{exact(3), 1756, 200, 2000, 0.02, 0.98, 1.02},   // k = 2: no probe with j = 2
		{exact(3), 1000, 200, 2000, 0.05, 1.15, 1.25},   // but j = 1 forms a pattern in this size
		{exact(10), 100_000, 4, 400_000, 0.02, 1.2, 1.35},
		{exact(10), 1_000_000, 1, 500_000, 0.02, 1.15, 1.3},
		{exact(20), 1_000_000, 1, 500_000, 0.02, 1, 1.5}, // most of these have the hash of a key
		{exact(3), 260_003, 4, 100_000, 0.02, 0.98, 1.02},
		{exact(5), 150_000, 4, 100_000, 0.1, 1.2, 1.6}, // the values of j = 2 form a pattern

		{ribbon(10), 20, 1000, 500, 0.03, 0.95, 1.05},
		{ribbon(7.6), 100, 200, 1000, 0.03, 0.95, 1.05},
		{ribbon(4), 1500, 20, 5000, 0.03, 0.95, 1.05},
		{ribbon(5.5), 100_000, 1, 200_000, 0.03, 0.95, 1.05},
	} {
		if (testing.Short() || raceEnabled) && c.n >= 100_000 {
			continue
		}
		rng := policytest.Rand(t, int64(c.n))
		key := make([]byte, 12)
		var keys, fpp float64
		passed := 0
		builder := c.p.NewBuilder()
		for range c.filters {
			for range c.n {
				rng.Read(key)
				builder.Add(key)
			}
			filter := builder.Finish(nil)
			k, f := mustParse(t, filter).Estimate()
			keys, fpp = keys+k, fpp+f
			for range c.asked {
				if rng.Read(key); MayContain(filter, key) {
					passed++
				}
			}
		}
		filters, n := float64(c.filters), float64(c.n)
		// The spread of one estimate is below sqrt(n), as the keys' number would have to vary to
		// explain it.
		slack := 5 * math.Sqrt(n/filters)
		require.InDelta(t, n, keys/filters, c.keysWithin*n+slack, "%T, %d keys", c.p, c.n)
		expected := fpp * float64(c.asked)
		noise := 5 * math.Sqrt(c.ratioTo*expected)
		require.Greater(t, float64(passed), c.ratioFrom*expected-noise, "%T, %d keys", c.p, c.n)
		require.Less(t, float64(passed), c.ratioTo*expected+noise, "%T, %d keys", c.p, c.n)
	}
}

func TestEstimateExtremes(t *testing.T) {
	for _, k := range []byte{1, 2, 3, 30} {
		keys, fpp := mustParse(t, []byte{0, 0, 0, k}).Estimate()
		require.Zero(t, keys)
		require.Zero(t, fpp)

		keys, fpp = mustParse(t, []byte{0xff, 0xff, 0xff, k}).Estimate()
		require.True(t, math.IsInf(keys, 1))
		require.Equal(t, 1.0, fpp)

		// One bit less than all is a large number of keys, not the end of the bisection.
		keys, fpp = mustParse(t, []byte{0xff, 0xff, 0xfe, k}).Estimate()
		require.InDelta(t, math.Log(24)*24/float64(k), keys, 0.03*keys)
		require.InDelta(t, math.Pow(23.0/24, float64(k)), fpp, 1e-4)
	}
}
