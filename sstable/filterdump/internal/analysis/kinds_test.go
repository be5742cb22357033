package analysis

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

const (
	exactName  = "LevelDB Bloom"
	ribbonName = "ribbon"
)

// Filters are named by their encoding, and measured as they are: with dense keys, which LevelDB's
// does not do well on, tuned and ribbon filters keep their rates.
func TestKinds(t *testing.T) {
	keys := numbered(seeded(t, 1), "user%016d", 0, 20_000, 0.63)
	exact := analyze(t, windowTable(keys, 10), false)
	require.Equal(t, map[string]int{exactName: exact.WithKeys}, exact.Encodings)
	require.Equal(t, exact, analyze(t, windowTable(keys, 10), false), "it is always the same")
	for name, p := range map[string]policy.Policy{
		tunedName:  policytest.Must(policy.NewBloom(10, policy.WithTuning(0.05))),
		ribbonName: policytest.Must(policy.NewRibbon(7.2)),
	} {
		r := analyze(t, windowTableOf(p, keys, 4096, 11), false)
		require.True(t, r.Verified, name)
		require.Zero(t, r.FalseNegatives)
		require.Greater(t, r.Encodings[name], r.WithKeys/3)
		require.Equal(t, r.WithKeys, r.Encodings[name]+r.Encodings[exactName])
		require.Less(t, r.Between.Rate, exact.Between.Rate/3)
		if name == ribbonName {
			require.Equal(t, name, r.Encoding())
			require.Empty(t, r.Probes)
			require.Zero(t, r.Fill)
			slack := 5 * math.Sqrt(*r.FPP/float64(r.Between.Asked)) // standard errors
			require.InDelta(t, *r.FPP, r.Between.Rate, slack+0.03**r.FPP,
				"the FPP is what keys of all kinds get")
		}
	}
}

// A filter that cannot be parsed is not verified, and says so; the others are.
func TestUnknownKinds(t *testing.T) {
	keys := numbered(seeded(t, 3), "key%08d", 0, 3000, 0.5)
	table := windowTableOf(policytest.Must(policy.NewBloom(10)), keys, 65536, 16)
	each := table.info.Each
	require.Greater(t, len(each), 4)
	for i, last := range []byte{0xee, 0xee, 0} {
		each[i] = slices.Clone(each[i])
		each[i][len(each[i])-1] = last
	}
	r := analyze(t, table, false)
	require.False(t, r.Verified)
	for _, want := range []string{
		fmt.Sprintf("2 of %d filters: unknown encoding 0xee", r.WithKeys),
		fmt.Sprintf("1 of %d filters: k is 0", r.WithKeys),
	} {
		require.Contains(t, r.Unverified, want)
	}
	require.Equal(t, map[string]int{"unknown": 2, exactName: r.WithKeys - 2}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Greater(t, r.Between.Rate, 3/float64(r.WithKeys)-0.05, "these three match all keys")

	clear(each[4][:len(each[4])-1])
	r = analyze(t, table, false)
	require.Positive(t, r.FalseNegatives, "the filters that are known lose no key")

	each[0] = each[0][:1] // matches no key
	r = analyze(t, table, false)
	require.Contains(t, r.Unverified, "shorter than 2 bytes")
}

// Filters of LevelDB's policy are never called tuned, whatever their setting.
func TestNotTuned(t *testing.T) {
	keys := make([][]byte, 200) // repetitions count
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
	keys := make([][]byte, 100)
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
