package sstable_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// The majority of the keys in the index and in the first data block decides. Even if that is
// mistaken, no key is denied: a lookup is tried in both readings, for the key as it was given to
// the filter. Nor is a key denied in the order of another comparer: none is searched in the index.
func TestInferredKeys(t *testing.T) {
	const internal, plain = true, false
	can, cannot := internalKey("a", 9, 1), []byte("text text text")
	b, c := internalKey("b", 9, 1), internalKey("c", 9, 0)
	for _, test := range []struct {
		stored [][]byte
		found  bool // if they are in one block, so that the last is that of the index too
	}{
		{[][]byte{can}, internal},
		{[][]byte{cannot, can}, internal},       // 2 of 3
		{[][]byte{can, b, cannot}, plain},       // 2 of 4
		{[][]byte{can, b, c, cannot}, internal}, // 3 of 5
		{[][]byte{internalKey("a", 7, 1), internalKey("a", 8, 0), internalKey("a", 9, 1),
			internalKey("a", 10, 1)}, plain}, // sequence numbers rise
		{[][]byte{can, can, can, can}, plain}, // or are equal
		{[][]byte{internalKey("a", 7, 1), internalKey("b", 8, 1), internalKey("a", 9, 1),
			internalKey("b", 10, 1)}, internal},
		{[][]byte{internalKey("a", 9, 2)}, plain},
		{[][]byte{internalKey("a", 0, 0)}, plain},
		{[][]byte{internalKey("a", 1, 0)}, internal},
		{[][]byte{can, b, c, []byte("7 bytes")}, plain},
		{[][]byte{[]byte("7 bytes"), can, b, c}, plain},
		{[][]byte{internalKey("b", 1, 1), internalKey("a", 2, 1), internalKey("c", 3, 1)}, internal},
	} {
		for _, perBlock := range []int{1, 99} {
			for _, isInternal := range []bool{false, true} {
				o := tableOptions{perBlock: perBlock, filter: policy.NameLevelDB, baseLg: 5,
					internal: isInternal}
				short := slices.ContainsFunc(test.stored, func(k []byte) bool { return len(k) < 8 })
				if isInternal && short {
					continue
				}
				f := writeTable(o, test.stored...)
				table := openTable(t, f.bytes)
				for e, err := range table.Entries() {
					if perBlock > 1 {
						require.NoError(t, err)
						require.Equal(t, test.found, len(e.Key) < len(e.Stored), "%q", test.stored)
					}
					break
				}
				filter, err := openFilter(table)
				require.NoError(t, err)
				for _, user := range f.users {
					require.True(t, filter.MayContain([]byte(user)), "%q in %q", user, test.stored)
				}
			}
		}
	}
	// Nor is one denied if two blocks have one index key, so that the second is never found.
	o := tableOptions{filter: policy.NameLevelDB, baseLg: 4, indexKeys: plainKeys("c", "c")}
	filter, err := openFilter(openTable(t, writeTable(o, plainKeys("b", "c")...).bytes))
	require.NoError(t, err)
	require.True(t, filter.MayContain([]byte("c")))
}

// Tables that goleveldb's RecoverFile writes have internal keys, filters of these, and index keys
// that are too short to be internal. By itself such a table is in doubt; in a database the index is
// wrong.
func TestRecoveredTable(t *testing.T) {
	stored := [][]byte{internalKey("a", 1, 1), internalKey("b", 2, 1), internalKey("c", 3, 0)}
	o := tableOptions{perBlock: 99, filter: policy.NameLevelDB, indexKeys: plainKeys("d")}
	file := writeTable(o, stored...).bytes
	table := openTable(t, file)
	require.True(t, table.KeysInDoubt())
	require.NoError(t, entriesError(t, table, len(stored)))
	filter, err := openFilter(table)
	require.NoError(t, err)
	for _, key := range stored {
		require.True(t, filter.MayContain(key))
	}

	table = openTable(t, file, sstable.WithInternalKeys())
	require.False(t, table.KeysInDoubt())
	err = entriesError(t, table, len(stored))
	require.ErrorIs(t, err, sstable.ErrIndexOrder)
	require.ErrorContains(t, err, "call CompactRange before the first lookup")

	for name, stored := range map[string][][]byte{
		"text":        plainKeys("a short key", "b short key"),
		"internal":    stored,
		"short":       append(plainKeys("7 bytes"), stored...),
		"short, last": append(slices.Clone(stored), []byte("d")),
	} {
		o.indexKeys = nil
		file := writeTable(o, stored...).bytes
		require.False(t, openTable(t, file).KeysInDoubt(), name)
		table := openTable(t, file, sstable.WithInternalKeys())
		for e, err := range table.Entries() {
			if err == nil {
				require.Len(t, e.Key, len(e.Stored)-8, name)
			}
		}
	}
}
