package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

// goleveldb gives a new table the number of one that it has removed, such as that of a discarded
// transaction, but keeps the blocks of that in its cache: keys are lost, whatever the filter. With
// BlockCacheEvictRemoved this test loses none. Concurrent programs still may: see TESTING.md.
func TestDiscardedTransaction(t *testing.T) {
	const n = 200
	lost := func(o opt.Options) (lost int) {
		db, err := leveldb.Open(storage.NewMemStorage(), &o)
		require.NoError(t, err)
		key := func(prefix string, i int) []byte { return fmt.Appendf(nil, "%s%04d", prefix, i) }
		for _, prefix := range []string{"discarded", "committed"} {
			tr, err := db.OpenTransaction()
			require.NoError(t, err)
			for i := range n {
				require.NoError(t, tr.Put(key(prefix, i), make([]byte, 100), nil))
			}
			if prefix == "committed" {
				require.NoError(t, tr.Commit())
				continue
			}
			for i := range n {
				_, err := tr.Get(key(prefix, i), nil)
				require.NoError(t, err)
			}
			tr.Discard()
		}
		for i := range n {
			if has, err := db.Has(key("committed", i), nil); err != nil || !has {
				lost++
			}
		}
		require.NoError(t, db.Close())
		return lost
	}
	for _, o := range []*opt.Options{{}, configured(t, &opt.Options{}, bloom(t, 10))} {
		o.WriteBuffer = 4 << 10 // so that transactions write tables
		without := lost(*o)
		t.Logf("filter: %v; without BlockCacheEvictRemoved %d of %d keys are lost",
			o.Filter != nil, without, n)
		require.Positive(t, without, "goleveldb has no such fault any more: README.md and "+
			"TESTING.md name it, and suiteEngine discards no transaction")
		o.BlockCacheEvictRemoved = true
		require.Zero(t, lost(*o))
	}
}
