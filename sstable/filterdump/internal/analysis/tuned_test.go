package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// Tuned filters are named, and those of LevelDB's policy never are, whatever their setting.
func TestTunedTables(t *testing.T) {
	p, err := policy.NewBloom(10, policy.WithTuning(0.05))
	require.NoError(t, err)
	keys := numbered(seeded(t, 7), "%016d", 0, 20_000, 0.63).present
	exact := analyze(t, windowTable(t, keys, 10, 4096, 11), Options{})
	require.Equal(t, map[string]int{exactName: exact.Filters}, exact.Encodings)
	require.NotNil(t, advised(exact, `other\. policy\.NewBloom with policy\.WithTuning lowers it`))

	r := analyze(t, windowTableOf(p, keys, 4096, 11), Options{})
	require.True(t, r.Verified)
	require.Zero(t, r.FalseNegatives)
	require.Greater(t, r.Encodings[tunedName], r.Filters/3)
	require.Equal(t, r.Filters, r.Encodings[tunedName]+r.Encodings[exactName])
	require.Less(t, r.Between.Rate, exact.Between.Rate/3)

	rng := seeded(t, 8)
	for range 2000 {
		bits := 0.5 + 50*rng.Float64()
		if rng.IntN(2) == 0 {
			bits = float64(1 + int(bits))
		}
		n := 1 + rng.IntN(200)
		info, err := policy.Parse(mustBloom(t, bits).AppendFilter(nil, keys[:n]))
		require.NoError(t, err)
		require.False(t, isTuned(info, int64(n)), "%d keys, %v bits per key", n, bits)
	}
}
