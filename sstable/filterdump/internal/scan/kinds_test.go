package scan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

const (
	exactName  = "LevelDB Bloom"
	ribbonName = "ribbon"
)

// Filters are named by their encoding.
func TestKinds(t *testing.T) {
	keys := numbered(seeded(t, 1), "user%016d", 0, 20_000, 0.63)
	for name, p := range map[string]policy.Policy{
		exactName:  policytest.Must(policy.NewBloom(10, policy.WithTuning(0.05))),
		ribbonName: policytest.Must(policy.NewRibbon(7.2)),
	} {
		r := surveyOf(t, windowTableOf(p, keys, 4096, 11))
		require.Empty(t, r.Unverified, name)
		require.Zero(t, r.FalseNegatives)
		require.Equal(t, map[string]int{name: r.WithKeys}, r.Encodings)
		require.Equal(t, r, surveyOf(t, windowTableOf(p, keys, 4096, 11)), "it is always the same")
	}
}

// A filter that cannot be parsed is not verified, and says so; the others are.
func TestUnknownKinds(t *testing.T) {
	keys := numbered(seeded(t, 3), "key%08d", 0, 3000, 0.5)
	table := windowTableOf(policytest.Must(policy.NewBloom(10)), keys, 65536, 16)
	each := table.info.Each
	require.Greater(t, len(each), 4)
	for i, last := range []byte{0xee, 0xef, 0} {
		each[i] = slices.Clone(each[i])
		each[i][len(each[i])-1] = last
	}
	r := surveyOf(t, table)
	for _, want := range []string{
		fmt.Sprintf("2 of %d filters: unknown encoding", r.WithKeys),
		fmt.Sprintf("1 of %d filters: k is 0", r.WithKeys),
	} {
		require.Contains(t, r.Unverified, want)
	}
	require.Equal(t, map[string]int{"unknown": 2, exactName: r.WithKeys - 2}, r.Encodings)
	require.Zero(t, r.FalseNegatives)

	clear(each[4][:len(each[4])-1])
	r = surveyOf(t, table)
	require.Positive(t, r.FalseNegatives, "the filters that are known lose no key")

	each[0] = each[0][:1] // matches no key
	r = surveyOf(t, table)
	require.Contains(t, r.Unverified, "shorter than 2 bytes")
}
