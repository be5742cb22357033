package sstable_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// Comparers that are not LevelDB's default.
var comparers = map[string]func(a, b string) int{
	"reverse":       func(a, b string) int { return cmp.Compare(b, a) },
	"by length":     func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) },
	"by last bytes": func(a, b string) int { return cmp.Or(cmp.Compare(a[len(a)-1], b[len(b)-1]), cmp.Compare(a, b)) },
	// Chrome's IndexedDB: numbers as varints at the beginning, by their value, and then the rest.
	"by number": func(a, b string) int {
		x, n := binary.Uvarint([]byte(a))
		y, m := binary.Uvarint([]byte(b))
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a[n:], b[m:]))
	},
}

// Tables in the order of another comparer are no error, and no key of theirs is denied: a search by
// the index would go astray, and so none is tried.
func TestOtherComparers(t *testing.T) {
	for name, compare := range comparers {
		for _, internal := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, internal %v", name, internal), func(t *testing.T) {
				var users []string
				for i := range 400 {
					users = append(users, string(binary.AppendUvarint(nil, uint64(i*41)))+fmt.Sprintf("%d", i*i*7919%1000)+"abcdefgh"[:i%8])
				}
				slices.SortFunc(users, compare)
				stored, format := plainKeys(users...), sstable.PlainKeys
				if internal {
					format = sstable.InternalKeys
					stored = nil
					for i, user := range users {
						stored = append(stored, internalKey(user, uint64(1000+i), 1), internalKey(user, uint64(100+i), 0))
					}
				}
				file, w := writeTable(t, tableOptions{blockSize: 300, interval: 5, policy: exact{t}, internal: internal, baseLg: 8}, stored...)
				for _, opts := range [][]sstable.TableOption{nil, {sstable.WithKeys(format)}} {
					table := openTable(t, file, opts...)
					require.Equal(t, format, table.Keys())
					requireEntries(t, table, w, stored)
					filter, err := table.Filter(exact{t})
					require.NoError(t, err)
					for e := range table.Entries() {
						require.True(t, filter.MayContain(e.Key), "key %q", e.Key)
						require.True(t, filter.MayContainAt(table.Block(e.Block).Offset, e.Key), "key %q", e.Key)
						require.False(t, filter.MayContainAt(table.Block(e.Block).Offset, []byte("no such key")))
						_, ok := table.FindBlock(e.Key)
						require.False(t, ok)
					}
				}
			})
		}
	}
}
