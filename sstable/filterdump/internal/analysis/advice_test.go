package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// The advice is for keys that have far more false positives than random ones, and names the kinds
// that have fewer.
func TestAdvice(t *testing.T) {
	keys := numbered(seeded(t, 6), "%016d", 0, 20_000, 0.63).present
	advice := func(t *testing.T, table *fakeTable) string {
		var totals Totals
		totals.Add(policy.Name, 0, analyze(t, table, false))
		return totals.Advice()
	}
	require.Regexp(t, "suit policy.NewRibbon.*policy.WithTuning.*bench@latest report -keys",
		advice(t, windowTable(t, keys, 10, 4096, 11)))
	for _, table := range []*fakeTable{
		wholeTable(t, keys[:18_000], 10), // where LevelDB's hash keeps its rate
		wholeTable(t, keys, 1),           // where all keys have many false positives
		windowTable(t, numbered(seeded(t, 5), "key%08d", 0, 10_000, 0.5).present, 10, 4096, 11),
		windowTableOf(mustRibbon(t, 10), keys, 4096, 11),
	} {
		require.Empty(t, advice(t, table))
	}
}

func TestClearlyAbove(t *testing.T) {
	for _, c := range []struct {
		asked, passed int64
		expected      float64
		want          bool
	}{
		{1000, 100, 0.01, true},
		{1000, 10, 0.1, false},
		{10000, 200, 0.01, true},    // twice as much
		{10000, 199, 0.01, false},   // less
		{100000, 520, 0.0001, true}, // half a per cent more
		{100000, 500, 0.0001, false},
		{100, 2, 0.01, false}, // by chance: few were asked
		{100, 8, 0.01, true},
		{0, 0, 0, false},
	} {
		require.Equal(t, c.want, newRate(c.asked, c.passed).clearlyAbove(c.expected), "%+v", c)
	}
}
