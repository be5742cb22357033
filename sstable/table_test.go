package sstable_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// requireTable compares what is read of a table with what was written. Its filter knows exactly the
// keys of each window.
func requireTable(t testing.TB, table *sstable.Table, f *tableFile) {
	t.Helper()
	entry := sstable.FilterEntry{Policy: policy.NameLevelDB, Handle: f.filterBlock}
	require.Equal(t, []sstable.FilterEntry{entry}, table.Filters())
	filter, err := openFilter(table)
	require.NoError(t, err)
	windows, n := filter.Windows(), 0
	for e, err := range table.Entries() {
		require.NoError(t, err)
		require.Less(t, n, len(f.stored))
		require.Equal(t, f.stored[n], e.Stored)
		require.Equal(t, f.users[n], string(e.Key))
		require.Equal(t, fmt.Sprintf("value of %q", e.Stored), string(e.Value))
		h := table.Block(e.Block)
		require.Equal(t, f.dataBlocks[e.Block], h)
		require.True(t, filter.MayContain(e.Key), "%s", e.Key)
		for i := range uint64(windows.NumFilters()) {
			mine := i == h.Offset>>windows.BaseLg()
			require.Equal(t, mine, windows.MayContain(i<<windows.BaseLg(), e.Key), "%s", e.Key)
		}
		if n++; n%90 == 5 { // other reads do not disturb this iteration
			require.NoError(t, entriesError(t, table, len(f.stored)))
			_, err := openFilter(table)
			require.NoError(t, err)
		}
	}
	require.Equal(t, len(f.stored), n)
	require.Equal(t, len(f.dataBlocks), table.Blocks())
	if f.compression == raw {
		require.EqualValues(t, f.indexBlock.Length, table.IndexSize())
	}
	for _, absent := range []string{"", "name-", "name-00000 ", "name-00121"} {
		// A lookup is tried for internal keys too, and with one block it can lie after their last.
		may := filter.MayContain([]byte(absent))
		require.True(t, !may || !f.internal && table.Blocks() == 1, absent)
	}
	require.True(t, filter.MayContain([]byte("zzz")), "after the last block no filter is used")
}

// Tables of all shapes.
func TestTable(t *testing.T) {
	for _, compression := range []byte{raw, snappied} {
		for _, perBlock := range []int{1, 3, 1000} {
			for _, interval := range []int{1, 3} {
				o := tableOptions{perBlock: perBlock, interval: interval, compression: compression,
					filter: policy.NameLevelDB}
				f := writeTable(o, plainKeys(names(400)...)...)
				requireTable(t, openTable(t, f.bytes), f)
				o.internal = true
				f = writeTable(o, internalKeys(names(400)...)...)
				requireTable(t, openTable(t, f.bytes), f)
			}
		}
	}
}

// Basho's LevelDB has filters of its own under LevelDB's name: read as LevelDB's, they would deny
// keys. Under other names, filters are what the names say. The metaindex may have any other names.
func TestForeignFilters(t *testing.T) {
	for name, foreign := range map[string]bool{policy.NameLevelDB: true, policy.NameGoLevelDB: false} {
		for _, basho := range []bool{true, false} {
			o := tableOptions{filter: name, meta: []string{"properties", "", "", "no name",
				"filter.more", "x", "fullfilter.a", "y", "Filter.b", "z", "filter", "", "filter.", ""}}
			if basho {
				o.meta = append(o.meta, "stats.sst1", "statistics")
			}
			table := openTable(t, writeTable(o, plainKeys("a")...).bytes)
			var names []string
			for _, e := range table.Filters() {
				names = append(names, e.Policy)
			}
			require.Equal(t, []string{name, "more", ""}, names)
			require.Equal(t, basho && foreign, table.Filters()[0].Foreign)
			filter, err := table.OpenFilter(table.Filters()[0])
			require.NoError(t, err)
			require.True(t, filter.MayContain([]byte("a")))
			require.Equal(t, basho && foreign, filter.MayContain([]byte("A")))
		}
	}
}
