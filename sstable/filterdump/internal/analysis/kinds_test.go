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

// Dense keys, which LevelDB's encoding does not do well on: ribbon filters keep their rate, in
// windows and in one filter, and are measured as they are.
func TestTablesOfRibbonFilters(t *testing.T) {
	set := numbered(seeded(t, 1), "user%016d", 0, 20_000, 0.63)
	p := policytest.Must(policy.NewRibbon(7.2))
	for layout, table := range map[string]*fakeTable{
		"windows":    windowTableOf(p, set.present, 4096, 11),
		"one filter": wholeTableOf(p.AppendFilter(nil, set.present), set.present),
	} {
		r := analyze(t, table, false)
		require.True(t, r.Verified, layout)
		require.Zero(t, r.FalseNegatives)
		require.Equal(t, ribbonName, r.Encoding())
		require.Equal(t, map[string]int{ribbonName: r.WithKeys}, r.Encodings)
		require.Empty(t, r.Probes)
		require.Zero(t, r.Fill)
		require.Empty(t, r.Unverified)
		slack := 5 * math.Sqrt(*r.FPP/float64(r.Between.Asked)) // standard errors
		require.InDelta(t, *r.FPP, r.Between.Rate, slack+0.03**r.FPP,
			"%s: the FPP is what keys of all kinds get", layout)
	}
}

// A filter that cannot be parsed is not verified, and says so; the others are.
func TestUnknownKinds(t *testing.T) {
	keys := numbered(seeded(t, 3), "key%08d", 0, 3000, 0.5).present
	table := windowTableOf(policytest.Must(policy.NewBloom(10)), keys, 65536, 16)
	each := table.info.Each
	require.Greater(t, len(each), 4)
	for i, last := range []byte{0xee, 0xee, 0xef, 0} {
		each[i] = slices.Clone(each[i])
		each[i][len(each[i])-1] = last
	}
	r := analyze(t, table, false)
	require.False(t, r.Verified)
	for _, want := range []string{
		fmt.Sprintf("2 of %d filters: unknown encoding 0xee", r.WithKeys),
		fmt.Sprintf("1 of %d filters: unknown encoding 0xef", r.WithKeys),
		fmt.Sprintf("1 of %d filters: k is 0", r.WithKeys),
	} {
		require.Contains(t, r.Unverified, want)
	}
	require.Equal(t, map[string]int{"unknown": 3, exactName: r.WithKeys - 3}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Greater(t, r.Between.Rate, 4/float64(r.WithKeys)-0.05, "these four match all keys")

	clear(each[4][:len(each[4])-1])
	r = analyze(t, table, false)
	require.Positive(t, r.FalseNegatives, "the filters that are known lose no key")

	each[0] = each[0][:1] // matches no key
	r = analyze(t, table, false)
	require.Contains(t, r.Unverified, "shorter than 2 bytes")
}
