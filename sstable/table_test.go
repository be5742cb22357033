package sstable_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
		user := stored[n]
		if w.internal {
			user = user[:len(user)-8]
		}
		require.Equal(t, string(user), string(e.Key))
		require.Equal(t, fmt.Sprintf("value of %q", stored[n]), string(e.Value))
		require.Equal(t, w.dataBlocks[e.Block], table.Block(e.Block))
		n++
	}
	require.Equal(t, len(stored), n)
	require.Equal(t, len(w.dataBlocks), table.Blocks())
}

// shapes are tables of all kinds, written with other means than those that read them.
func shapes(t testing.TB) map[string]tableOptions {
	all := map[string]tableOptions{}
	for _, compression := range []byte{raw, snappied, zstded} {
		for _, blockSize := range []int{0, 100, 1000, 1 << 20} {
			for _, interval := range []int{1, 3, 16} {
				for _, internal := range []bool{false, true} {
					o := tableOptions{blockSize: blockSize, interval: interval, compression: compression, policy: exact{t}, internal: internal, indexKey: shortIndexKey}
					if internal {
						o.indexKey = shortInternalIndexKey
					}
					all[fmt.Sprintf("compression %d, blocks of %d, restarts of %d, internal %v", compression, blockSize, interval, internal)] = o
				}
			}
		}
	}
	return all
}

// Tables of all shapes: entries, formats, handles, and a filter that knows exactly the keys of each
// window.
func TestTable(t *testing.T) {
	users := names(400)
	for name, o := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			stored, format := plainKeys(users...), sstable.PlainKeys
			if o.internal {
				stored, format = internalKeys(users...), sstable.InternalKeys
			}
			file, w := writeTable(t, o, stored...)
			for _, opts := range [][]sstable.TableOption{nil, {sstable.WithKeys(format)}} {
				table := openTable(t, file, opts...)
				require.Equal(t, format, table.Keys())
				requireEntries(t, table, w, stored)
				require.Equal(t, []sstable.MetaEntry{{Name: "filter.test.Exact", Handle: w.filterBlock}}, table.Metaindex())
				require.Equal(t, []sstable.FilterEntry{{Policy: "test.Exact", Handle: w.filterBlock}}, table.Filters())

				filter, err := table.Filter(exact{t})
				require.NoError(t, err)
				windows := map[uint64]map[string]bool{}
				for e := range table.Entries() {
					window := table.Block(e.Block).Offset >> 11
					if windows[window] == nil {
						windows[window] = map[string]bool{}
					}
					windows[window][string(e.Key)] = true
				}
				for _, user := range users {
					require.True(t, filter.MayContain([]byte(user)), user)
					block, ok := table.FindBlock([]byte(user))
					require.True(t, ok)
					window := table.Block(block).Offset >> 11
					require.True(t, windows[window][user], "FindBlock finds the key's block")
					for other, keys := range windows {
						require.Equal(t, keys[user], filter.MayContainAt(other<<11, []byte(user)))
					}
				}
				for _, absent := range []string{"", "name-", "name-00000 ", "name-00600", "name-00601"} {
					want := false
					for _, user := range users {
						want = want || user == absent
					}
					require.Equal(t, want, filter.MayContain([]byte(absent)), absent)
				}
				require.True(t, filter.MayContain([]byte("zzz")), "behind the last block no filter is asked")
				_, ok := table.FindBlock([]byte("zzz"))
				require.False(t, ok)
			}
		})
	}
}

// An Entries loop can end early, and begin again.
func TestEntriesBreak(t *testing.T) {
	stored := plainKeys(names(50)...)
	file, w := writeTable(t, tableOptions{blockSize: 100}, stored...)
	table := openTable(t, file)
	for e, err := range table.Entries() {
		require.NoError(t, err)
		require.Equal(t, stored[0], e.Stored)
		break
	}
	requireEntries(t, table, w, stored)
}

// Tables without entries, with and without a block for them, as C++ LevelDB and goleveldb write
// them.
func TestEmptyTable(t *testing.T) {
	file, w := writeTable(t, tableOptions{policy: exact{t}})
	withBlock := func() []byte { // the block has no entry, its key in the index is empty
		var file bytes.Buffer
		w := newTableWriter(t, &file, tableOptions{policy: exact{t}})
		w.endBlock()
		w.finish()
		return file.Bytes()
	}()
	for blocks, file := range [][]byte{file, withBlock} {
		for _, format := range []sstable.KeyFormat{sstable.AutoKeys, sstable.InternalKeys, sstable.PlainKeys} {
			table := openTable(t, file, sstable.WithKeys(format))
			require.Equal(t, blocks, table.Blocks())
			for _, err := range table.Entries() {
				require.Fail(t, "an entry", "%v", err)
			}
			filter, err := table.Filter(exact{t})
			require.NoError(t, err)
			require.True(t, filter.MayContain([]byte("a")), "no filter is asked")
			_, ok := table.FindBlock([]byte("a"))
			require.False(t, ok)
		}
	}
	require.Equal(t, sstable.BlockHandle{Offset: 0, Length: 5}, w.filterBlock)
}

// The metaindex may name any number of blocks; ReadBlock and MetaEntries read them.
func TestMetaindex(t *testing.T) {
	properties := blockWriter{interval: 2}
	properties.add([]byte("rocksdb.comparator"), []byte("one"))
	properties.add([]byte("rocksdb.num.entries"), []byte{2})
	contents := properties.finish()
	file, w := writeTable(t, tableOptions{interval: 16, compression: snappied, policy: exact{t}, internal: true, meta: []metaBlock{
		{"rocksdb.properties", contents}, {"", []byte("no name")}, {"zzz", nil}, {"filter.test.Exact.more", []byte("x")}, {"fullfilter.a", []byte("y")},
		{"Filter.test.Exact", []byte("z")}, {"filter", nil}, {"filter.", nil},
	}}, internalKeys("a", "b")...)
	table := openTable(t, file)
	var names []string
	for _, m := range table.Metaindex() {
		names = append(names, m.Name)
	}
	require.Equal(t, "|Filter.test.Exact|filter|filter.|filter.test.Exact|filter.test.Exact.more|fullfilter.a|rocksdb.properties|zzz", strings.Join(names, "|"))
	handles := table.Metaindex()
	require.Equal(t, []sstable.FilterEntry{
		{Policy: "", Handle: handles[3].Handle}, {Policy: "test.Exact", Handle: w.filterBlock},
		{Policy: "test.Exact.more", Handle: handles[5].Handle}, {Policy: "a", Whole: true, Handle: handles[6].Handle},
	}, table.Filters())

	handles[0] = sstable.MetaEntry{} // the caller's copy
	handles = table.Metaindex()
	require.Equal(t, "rocksdb.properties", handles[7].Name)
	block, err := table.ReadBlock(handles[0].Handle)
	require.NoError(t, err)
	require.Equal(t, "no name", string(block))
	other, err := table.ReadBlock(handles[7].Handle)
	require.NoError(t, err)
	require.Equal(t, contents, other)
	require.Equal(t, "no name", string(block), "the caller's copy")

	var got []string
	for e, err := range table.MetaEntries(handles[7].Handle) {
		require.NoError(t, err)
		require.Equal(t, -1, e.Block)
		require.Equal(t, e.Stored, e.Key)
		got = append(got, fmt.Sprintf("%s=%x", e.Key, e.Value))
	}
	require.Equal(t, []string{"rocksdb.comparator=6f6e65", "rocksdb.num.entries=02"}, got)
	for range table.MetaEntries(handles[7].Handle) {
		break
	}
}
