package goleveldb_test

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// The estimate is within 15 % of what the tables have.
func TestCheckCacheEstimates(t *testing.T) {
	decimal := func(i int) []byte { return fmt.Appendf(nil, "%016d", i) }
	for _, c := range []struct {
		name string
		o    *opt.Options
		opts []goleveldb.Option
		n    int
		key  func(i int) []byte
		size func(i int) int // of the value
	}{
		{"decimal keys", manyTables(), nil, 100_000, decimal, func(int) int { return 100 }},
		{"default sizes", &opt.Options{}, nil, 100_000, decimal, func(int) int { return 200 }},
		{"small tables", smallTables(), nil, 20_000, decimal, func(int) int { return 20 }},
		{"in order", manyTables(), nil, 200_000, decimal, func(int) int { return 20 }},
		{"large windows", manyTables(), []goleveldb.Option{goleveldb.WithFilterBaseLg(16)}, 100_000,
			decimal, func(i int) int { return i % 200 }},
		{"large values", manyTables(), nil, 10_000, decimal, func(int) int { return 2000 }},
		{"kinds of entries in a row", manyTables(), nil, 100_000, func(i int) []byte {
			return fmt.Appendf(nil, "%s%08d", []string{"a/long/prefix/of/a/kind/", "b", "c"}[i*3/100_000], i)
		}, func(i int) int { return []int{10, 400, 0}[i*3/100_000] }},
		{"most keys in one place", manyTables(), nil, 100_000, func(i int) []byte {
			if i%1000 == 0 {
				return fmt.Appendf(nil, "%c%d", 'a'+i/5000, i)
			}
			return fmt.Appendf(nil, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d", i)
		}, func(i int) int { return 50 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := configured(t, c.o, ribbon(t), append(c.opts, goleveldb.WithoutSeekCompactions())...)
			s := newCounted()
			db, err := leveldb.Open(s, o)
			require.NoError(t, err)
			rng := enginetest.Rand(t, 142)
			order := rng.Perm(c.n)
			if c.name == "in order" {
				slices.Sort(order)
			}
			for _, i := range order {
				value := make([]byte, c.size(i))
				rng.Read(value) // does not compress
				require.NoError(t, db.Put(c.key(i), value, nil))
			}
			settle(t, db, o)
			before := s.reads.Load()
			r, err := goleveldb.CheckCache(o, db)
			require.NoError(t, err)
			require.Less(t, s.reads.Load()-before, int64(3000), "reads, however large the database is")
			require.NoError(t, db.Close())
			filters, indexes := blockSizes(t, s, o)
			t.Logf("%d tables; filters %d, estimated %d; indexes %d, estimated %d", r.Tables,
				filters, r.Filters, indexes, r.Indexes)
			require.InEpsilon(t, filters, r.Filters, 0.15)
			require.InEpsilon(t, indexes, r.Indexes, 0.15)
		})
	}
}

// blockSizes returns the bytes of the filters and of the indexes of all tables, in memory.
func blockSizes(t testing.TB, s storage.Storage, o *opt.Options) (filters, indexes int) {
	inTable := goleveldb.TableOptions(o)
	first, notCached := goleveldb.SearchKey(nil), &opt.ReadOptions{DontFillCache: true}
	tables, err := s.List(storage.TypeTable)
	require.NoError(t, err)
	for _, fd := range tables {
		file, err := s.Open(fd)
		require.NoError(t, err)
		size, err := file.Seek(0, io.SeekEnd)
		require.NoError(t, err)
		blocks := cache.NewCache(cache.NewLRU(1 << 30))
		r, err := table.NewReader(file, size, fd, &cache.NamespaceGetter{Cache: blocks}, nil, inTable)
		require.NoError(t, err)
		_, err = r.OffsetOf(first)
		require.NoError(t, err)
		index := blocks.Size()
		_, _, err = r.Find(first, true, notCached)
		require.Condition(t, func() bool { return err == nil || err == leveldb.ErrNotFound })
		indexes += index
		filters += blocks.Size() - index
		r.Release()
	}
	return filters, indexes
}
