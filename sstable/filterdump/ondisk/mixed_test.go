package ondisk

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// What tables without filters read is told apart: about a block for each key in their range, where
// tables with filters read one in a hundred.
func TestUnfilteredTables(t *testing.T) {
	dir := t.TempDir()
	const n = 20_000
	fill := func(first int, f filter.Filter) {
		db, err := leveldb.OpenFile(dir, &opt.Options{Filter: f})
		require.NoError(t, err)
		for i := first; i < 3*n; i += 3 {
			require.NoError(t, db.Put(fmt.Appendf(nil, "key%013d", i), make([]byte, 50), nil))
		}
		transaction, err := db.OpenTransaction() // flushes
		require.NoError(t, err)
		transaction.Discard()
		require.NoError(t, db.Close())
	}
	fill(0, nil)
	fill(1, filter.NewBloomFilter(10))
	v, err := Count(context.Background(), dir)
	require.NoError(t, err)
	unfiltered, read, all := 0, 0.0, 0.0
	for _, l := range v.Levels {
		require.Equal(t, l.Unfiltered > 0, l.ReadUnfiltered > 0)
		require.LessOrEqual(t, l.ReadUnfiltered, l.Read)
		unfiltered, read, all = unfiltered+l.Unfiltered, read+l.ReadUnfiltered, all+l.Read
		require.Less(t, l.Read-l.ReadUnfiltered, 200.0, "with filters")
	}
	require.Positive(t, unfiltered)
	require.InDelta(t, 1000, read, 20)
	require.Greater(t, all, read, "filters have false positives")
}
