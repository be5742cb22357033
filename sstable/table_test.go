package sstable_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// requireEntries compares all that a table says of its keys with what was written.
func requireEntries(t testing.TB, table *sstable.Table, w *tableWriter, stored [][]byte) {
	t.Helper()
	n := 0
	for e, err := range table.Entries() {
		require.NoError(t, err)
		require.Less(t, n, len(stored))
		require.Equal(t, string(stored[n]), string(e.Stored))
		require.Equal(t, string(w.user(stored[n])), string(e.Key))
		require.Equal(t, fmt.Sprintf("value of %q", stored[n]), string(e.Value))
		require.Equal(t, w.dataBlocks[e.Block], table.Block(e.Block))
		n++
	}
	require.Equal(t, len(stored), n)
	require.Equal(t, len(w.dataBlocks), table.Blocks())
	require.EqualValues(t, w.indexSize, table.IndexSize())
}

// Tables of all shapes: entries, formats, handles, and a filter that knows exactly the keys of each
// window.
func TestTable(t *testing.T) {
	for _, compression := range []byte{raw, snappied} {
		for _, blockSize := range []int{0, 100, 1 << 20} {
			for _, interval := range []int{1, 3} {
				for _, internal := range []bool{false, true} {
					o := tableOptions{blockSize: blockSize, interval: interval,
						compression: compression, policy: exact{t}, internal: internal}
					t.Run(fmt.Sprintf("compression %d, blocks of %d, restarts of %d, internal %v",
						compression, blockSize, interval, internal),
						func(t *testing.T) { testTable(t, o) })
				}
			}
		}
	}
}

func testTable(t *testing.T, o tableOptions) {
	users := names(400)
	stored := plainKeys(users...)
	if o.internal {
		stored = internalKeys(users...)
	}
	file, w := writeTable(t, o, stored...)
	table := openTable(t, file)
	for e := range table.Entries() { // a loop can end early, and begin again
		require.Equal(t, stored[0], e.Stored)
		break
	}
	requireEntries(t, table, w, stored)
	require.Equal(t, []sstable.FilterEntry{{Policy: "test.Exact", Handle: w.filterBlock}},
		table.Filters())

	filter, err := openFilter(table, exact{t})
	require.NoError(t, err)
	for e := range table.Entries() {
		require.True(t, filter.MayContain(e.Key), "%s", e.Key)
		window := table.Block(e.Block).Offset >> 11
		for other := range uint64(filter.Windows().NumFilters()) {
			require.Equal(t, other == window, filter.Windows().MayContain(other<<11, e.Key))
		}
	}
	for _, absent := range []string{"", "name-", "name-00000 ", "name-00601"} {
		// A lookup is tried for internal keys too, and with one block it can lie after their last.
		may := filter.MayContain([]byte(absent))
		require.True(t, !may || !o.internal && table.Blocks() == 1, absent)
	}
	require.True(t, filter.MayContain([]byte("zzz")), "after the last block no filter is used")
}

// Reading a table does not disturb an iteration over it.
func TestReadsSideBySide(t *testing.T) {
	for _, compression := range []byte{raw, snappied} {
		o := tableOptions{blockSize: 1000, compression: compression, policy: exact{t}}
		stored := plainKeys(names(400)...)
		file, _ := writeTable(t, o, stored...)
		table, n := openTable(t, file), 0
		for e, err := range table.Entries() {
			require.NoError(t, err)
			require.Equal(t, stored[n], e.Key)
			if n++; n%90 == 5 {
				require.NoError(t, entriesError(t, table, len(stored)))
				_, err := openFilter(table, exact{t})
				require.NoError(t, err)
			}
		}
		require.Equal(t, len(stored), n)
	}
}

// The metaindex may name any number of blocks. Those with filters are read.
func TestMetaindex(t *testing.T) {
	file, w := writeTable(t, tableOptions{interval: 16, compression: snappied, policy: exact{t},
		internal: true, meta: []metaBlock{
			{"properties", nil}, {"", []byte("no name")}, {"zzz", nil},
			{"filter.test.Exact.more", []byte("x")}, {"fullfilter.a", []byte("y")},
			{"Filter.test.Exact", []byte("z")}, {"filter", nil}, {"filter.", nil},
		}}, internalKeys("a", "b")...)
	table := openTable(t, file)
	var names []string
	for _, f := range table.Filters() {
		names = append(names, f.Policy)
	}
	require.Equal(t, []string{"", "test.Exact", "test.Exact.more"}, names)
	require.Equal(t, w.filterBlock, table.Filters()[1].Handle)

	block, err := table.ReadBlock(table.Filters()[2].Handle)
	require.NoError(t, err)
	require.Equal(t, "x", string(block))
}

// Basho's LevelDB has filters of its own under LevelDB's name: read as LevelDB's, they would deny
// keys. Under other names, filters are what the names say.
func TestForeignFilters(t *testing.T) {
	for name, foreign := range map[string]bool{policy.Name: true, policy.NameGoLevelDB: false} {
		for _, basho := range []bool{true, false} {
			o := tableOptions{policy: named{exact{t}, name}}
			if basho {
				o.meta = []metaBlock{{"stats.sst1", []byte("statistics")}}
			}
			file, _ := writeTable(t, o, plainKeys("a")...)
			table := openTable(t, file)
			require.Equal(t, basho && foreign, table.Filters()[0].Foreign)
			filter, err := openFilter(table, o.policy)
			require.NoError(t, err)
			require.True(t, filter.MayContain([]byte("a")))
			require.Equal(t, basho && foreign, filter.MayContain([]byte("A")))
		}
	}
}

// named is exact under another name.
type named struct {
	exact
	name string
}

func (p named) Name() string { return p.name }
