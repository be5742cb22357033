package pebblev2

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The cache has room for the memtables, and for filters and indexes twice, and in each of its
// shards for the largest filter: here on a machine of 16 processors, where a cache has 64 shards if
// they have 4 MiB each, and 4 otherwise.
func TestCheckShards(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	for _, c := range []struct {
		memTables, filters, largest, cache, required uint64
		fits                                         bool
	}{
		{0, 10 * mib, mib, 20*mib - 1, 24 * mib, false},
		{0, 10 * mib, mib, 24*mib - 1, 24 * mib, false},
		{0, 10 * mib, mib, 24 * mib, 24 * mib, true},
		{8 * mib, 10 * mib, mib, 28*mib - 1, 32 * mib, false},
		{8 * mib, 10 * mib, mib, 32*mib - 1, 32 * mib, false},
		{8 * mib, 10 * mib, mib, 32 * mib, 32 * mib, true},
		{0, 4 * mib, 4 * mib, 256*mib - 1, 24 * mib, true},
		{0, 4 * mib, 4 * mib, 256 * mib, 24 * mib, false},
		{0, 4 * mib, 4 * mib, 264 * mib, 24 * mib, true},
		{0, 120 * mib, 4 * mib, 240 * mib, 496 * mib, false}, // with 256 MiB, it has 64
		{0, 120 * mib, 4 * mib, 496 * mib, 496 * mib, true},
		{0, 10*mib + 1, mib, 24 * mib, 25 * mib, false},
	} {
		n := needs{memTables: c.memTables, blocks: c.filters, largest: c.largest}
		r := Report{needs: n}
		r.cache(c.cache)
		require.Equal(t, c.fits, len(r.Warnings) == 0, "%+v", c)
		require.Equal(t, c.required, r.Required, "%+v", c)
		for _, cache := range []uint64{r.Required, n.cache(c.cache)} {
			r := Report{needs: n}
			r.cache(cache)
			require.Empty(t, r.Warnings, "%+v", c)
		}
	}
	many := Report{needs: needs{tables: 3 << 10}} // a KiB each, twice
	many.cache(0)
	require.EqualValues(t, 6*mib, many.Required)
}

func TestCheckFiles(t *testing.T) {
	for open, warnings := range map[int]int{-1: 0, 124: 1, 125: 0} {
		var r Report
		r.files(open, 100)
		require.Len(t, r.Warnings, warnings, "%d", open)
		require.Equal(t, 135, r.RequiredFiles)
		if warnings > 0 {
			require.Contains(t, r.Warnings[0], "set Options.MaxOpenFiles to 135")
		}
	}
}
