package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Tuned filters are named, and those of LevelDB's policy never are, whatever their setting.
func TestTunedTables(t *testing.T) {
	p := policytest.Must(policy.NewBloom(10, policy.WithTuning(0.05)))
	keys := numbered(seeded(t, 7), "%016d", 0, 20_000, 0.63).present
	exact := analyze(t, windowTable(keys, 10), false)
	require.Equal(t, map[string]int{exactName: exact.WithKeys}, exact.Encodings)

	r := analyze(t, windowTableOf(p, keys, 4096, 11), false)
	require.True(t, r.Verified)
	require.Zero(t, r.FalseNegatives)
	require.Greater(t, r.Encodings[tunedName], r.WithKeys/3)
	require.Equal(t, r.WithKeys, r.Encodings[tunedName]+r.Encodings[exactName])
	require.Less(t, r.Between.Rate, exact.Between.Rate/3)

	rng := seeded(t, 8)
	for range 2000 {
		bits := 0.5 + 50*rng.Float64()
		if rng.IntN(2) == 0 {
			bits = float64(1 + int(bits))
		}
		n := 1 + rng.IntN(200)
		info, err := policy.Parse(policytest.Must(policy.NewBloom(bits)).AppendFilter(nil, keys[:n]))
		require.NoError(t, err)
		require.False(t, isTuned(info, int64(n)), "%d keys, %v bits per key", n, bits)
	}
}

// A filter is tuned if its k is larger or smaller than LevelDB's, floor(bits * 0.69) from 1 to 30.
func TestTunedK(t *testing.T) {
	keys := make([][]byte, 100) // repetitions count
	for _, c := range []struct {
		bits  float64
		k     byte
		tuned bool
	}{
		{10, 5, true}, {10, 6, false}, {10, 7, true},
		{1, 1, false}, {1, 2, true}, {50, 29, true}, {50, 30, false},
	} {
		filter := policytest.Must(policy.NewBloom(c.bits)).AppendFilter(nil, keys)
		filter[len(filter)-1] = c.k
		info, err := policy.Parse(filter)
		require.NoError(t, err)
		require.Equal(t, c.tuned, isTuned(info, 100), "k = %d, %v bits per key", c.k, c.bits)
	}
}
