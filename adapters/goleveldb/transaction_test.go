package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// goleveldb gives a new table the number of one that it has removed, such as that of a discarded
// transaction, but keeps the blocks of that in its cache: keys are lost, whatever the filter. The
// log says how many. Concurrent programs lose some with BlockCacheEvictRemoved too: see
// .github/TESTING.md.
func TestDiscardedTransaction(t *testing.T) {
	testkit.Large(t)
	const n = 200
	for _, evict := range []bool{false, true} {
		o := &opt.Options{BlockCacheEvictRemoved: evict}
		o.WriteBuffer = 4 << 10 // so that transactions write tables
		db, err := leveldb.Open(storage.NewMemStorage(), o)
		require.NoError(t, err)
		key := func(prefix string, i int) []byte { return fmt.Appendf(nil, "%s%04d", prefix, i) }
		write := func(prefix string) *leveldb.Transaction {
			tr, err := db.OpenTransaction()
			require.NoError(t, err)
			for i := range n {
				require.NoError(t, tr.Put(key(prefix, i), make([]byte, 100), nil))
			}
			return tr
		}
		tr := write("discarded")
		for i := range n {
			_, err := tr.Get(key("discarded", i), nil)
			require.NoError(t, err)
		}
		tr.Discard()
		require.NoError(t, write("committed").Commit())
		lost := 0
		for i := range n {
			if has, err := db.Has(key("committed", i), nil); err != nil || !has {
				lost++
			}
		}
		t.Logf("BlockCacheEvictRemoved: %v; %d of %d keys are lost", evict, lost, n)
		require.NoError(t, db.Close())
	}
}
