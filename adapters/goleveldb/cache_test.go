package goleveldb_test

import (
	"fmt"
	"io"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// manyTables makes 100,000 keys have some hundred tables in two levels.
func manyTables() *opt.Options {
	return &opt.Options{
		WriteBuffer: 256 << 10, CompactionTableSize: 128 << 10, CompactionTotalSize: 256 << 10,
		BlockCacheCapacity: 64 << 20, OpenFilesCacheCapacity: 1000,
	}
}

// withTables returns a storage with a database of some keys, and other keys between them.
func withTables(t testing.TB, o *opt.Options, n int) (s storage.Storage, absent [][]byte) {
	s = storage.NewMemStorage()
	keys := enginetest.Keys(enginetest.Rand(t, 140), n+n/10)
	db, err := leveldb.Open(s, o)
	require.NoError(t, err)
	value := make([]byte, 100)
	rng := rand.New(rand.NewSource(141))
	for _, key := range keys[:n] {
		rng.Read(value) // does not compress
		require.NoError(t, db.Put(key, value, nil))
	}
	settle(t, db, o)
	require.NoError(t, db.Close())
	return s, keys[n:]
}

// settle writes what is in memory to tables, and waits until no compaction is due.
func settle(t testing.TB, db *leveldb.DB, o *opt.Options) {
	transaction, err := db.OpenTransaction()
	require.NoError(t, err)
	transaction.Discard()
	due := func() bool {
		var stats leveldb.DBStats
		require.NoError(t, db.Stats(&stats))
		for level, size := range stats.LevelSizes[1:] {
			if size >= o.GetCompactionTotalSize(level+1) {
				return true
			}
		}
		return stats.LevelTablesCounts[0] >= o.GetCompactionL0Trigger()
	}
	for due() { // a compaction of nothing waits for the one that runs
		nothing := util.Range{Start: []byte{0xff, 0xff, 0xff}, Limit: []byte{0xff, 0xff, 0xff}}
		require.NoError(t, db.CompactRange(nothing))
	}
}

// misses looks up absent keys of a database. It returns the bytes read for each key of the second
// half, and the bytes written.
func misses(t testing.TB, db *leveldb.DB, absent [][]byte) (read float64, written uint64) {
	stats := func() (s leveldb.DBStats) {
		require.NoError(t, db.Stats(&s))
		return s
	}
	half := len(absent) / 2
	start := stats()
	requireAbsent(t, db, absent[:half]) // fills the caches
	warm := stats()
	requireAbsent(t, db, absent[half:])
	end := stats()
	return float64(end.IORead-warm.IORead) / float64(half), end.IOWrite - start.IOWrite
}

// nearlyNothing is 0.01 reads of a block, in bytes. Blocks are larger, if anything.
const nearlyNothing = 0.01 * 4096

// CheckCache says whether lookups of absent keys are answered from memory, and what to set: on each
// side of each limit, the reads are counted. Its estimates are within 15 % of what tables have.
func TestCheckCacheRequires(t *testing.T) {
	base := configured(t, manyTables(), ribbon(t), goleveldb.WithoutSeekCompactions())
	s, absent := withTables(t, base, 100_000)
	check := func(set func(*opt.Options)) goleveldb.CacheReport {
		o := *base
		set(&o)
		db, err := leveldb.Open(s, &o)
		require.NoError(t, err)
		defer db.Close()
		r, err := goleveldb.CheckCache(&o, db)
		require.NoError(t, err)
		read, written := misses(t, db, absent)
		require.Equal(t, r.Fits(), read <= nearlyNothing, "%v bytes per absent key: %v", read, r)
		require.Zero(t, written)
		return r
	}
	enough := check(func(*opt.Options) {})
	require.True(t, enough.Fits())
	filters, indexes := blockSizes(t, s, base)
	require.InEpsilon(t, filters, enough.Filters, 0.15)
	require.InEpsilon(t, indexes, enough.Indexes, 0.15)

	for _, c := range []struct {
		name string
		set  func(*opt.Options)
		fits bool
		says string
	}{
		{"cache as required", func(o *opt.Options) {
			o.BlockCacheCapacity = int(enough.Required())
		}, true, "has room for filters and indexes"},
		{"half a cache", func(o *opt.Options) {
			o.BlockCacheCapacity = int(enough.Required() / 2)
		}, false, fmt.Sprintf("set Options.BlockCacheCapacity to %d", enough.Required())},
		{"no cacher", func(o *opt.Options) { o.BlockCacher = opt.NoCacher }, false,
			"the block cache (0.0 MiB)"},
		{"no cache, all open", func(o *opt.Options) { o.DisableBlockCache = true }, true,
			"open tables keep filters and indexes"},
		{"files as required", func(o *opt.Options) { o.OpenFilesCacheCapacity = enough.Tables }, true,
			fmt.Sprintf("has room for %d tables", enough.Tables)},
		{"a third of the files", func(o *opt.Options) {
			o.OpenFilesCacheCapacity = enough.Tables / 3
		}, false, fmt.Sprintf("set Options.OpenFilesCacheCapacity to %d", enough.Tables*5/4)},
		{"no cacher of files", func(o *opt.Options) { o.OpenFilesCacher = opt.NoCacher }, false,
			"the file cache (0 tables)"},
		{"no filter", func(o *opt.Options) {
			o.Filter, o.AltFilters, o.BlockCacheCapacity = nil, nil, int(enough.Required())
		}, false, "the options have no filter: pass them to Configure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := check(c.set)
			require.Equal(t, c.fits, r.Fits())
			require.Contains(t, r.String(), c.says)
		})
	}
}

// The estimate is as close if entries of one kind follow those of another, and if most keys share a
// long prefix. Which tables goleveldb makes is up to its compactions.
func TestCheckCacheEstimates(t *testing.T) {
	enginetest.Large(t)
	const n = 100_000
	o := configured(t, manyTables(), ribbon(t), goleveldb.WithoutSeekCompactions())
	s := storage.NewMemStorage()
	db, err := leveldb.Open(s, o)
	require.NoError(t, err)
	rng := enginetest.Rand(t, 142)
	for _, i := range rng.Perm(n) {
		key, value := fmt.Appendf(nil, "%c%d", 'b'+i/5000, i), make([]byte, 400)
		if i%5 > 0 {
			key, value = fmt.Appendf(nil, "%050d", i), value[:10]
		}
		rng.Read(value) // does not compress
		require.NoError(t, db.Put(key, value, nil))
	}
	settle(t, db, o)
	r, err := goleveldb.CheckCache(o, db)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	filters, indexes := blockSizes(t, s, o)
	t.Log(filters, r.Filters, indexes, r.Indexes)
	require.InEpsilon(t, filters, r.Filters, 0.15)
	require.InEpsilon(t, indexes, r.Indexes, 0.15)
}

// By default 300,000 lookups of absent keys make goleveldb rewrite tables, though filters answer
// them all. With WithoutSeekCompactions they write nothing. The log says how many they write.
func TestSeekCompactions(t *testing.T) {
	enginetest.Large(t)
	for name, opts := range map[string][]goleveldb.Option{
		"by default": nil, "without": {goleveldb.WithoutSeekCompactions()},
	} {
		o := configured(t, manyTables(), ribbon(t), opts...)
		s, absent := withTables(t, o, 100_000)
		db, err := leveldb.Open(s, o)
		require.NoError(t, err)
		var all uint64
		for range 300_000 / len(absent) {
			_, written := misses(t, db, absent)
			all += written
		}
		t.Logf("%s, lookups wrote %d bytes", name, all)
		if opts != nil {
			require.Zero(t, all)
		}
		require.NoError(t, db.Close())
	}
}

// Without tables there is nothing to read. What cannot be checked is an error.
func TestCheckCacheErrors(t *testing.T) {
	o := configured(t, nil, ribbon(t), goleveldb.WithoutSeekCompactions())
	db, err := leveldb.Open(storage.NewMemStorage(), o)
	require.NoError(t, err)
	_, err = goleveldb.CheckCache(nil, db)
	require.ErrorContains(t, err, "pass those that the database was opened with")
	_, err = goleveldb.CheckCache(o, nil)
	require.ErrorContains(t, err, "pass one that leveldb.OpenFile returned")

	fits := func(tables int) {
		r, err := goleveldb.CheckCache(o, db)
		require.NoError(t, err)
		require.Equal(t, goleveldb.CacheReport{Tables: tables, Cache: 8 << 20,
			OpenFiles: opt.DefaultOpenFilesCacheCapacity}, r)
		require.True(t, r.Fits())
	}
	fits(0)
	require.NoError(t, db.Put([]byte("key"), nil, nil))
	fits(0)
	require.NoError(t, db.Delete([]byte("key"), nil))
	settle(t, db, o)
	fits(1) // with nothing but a deletion

	seeks := *o
	seeks.DisableSeeksCompaction = false
	r, err := goleveldb.CheckCache(&seeks, db)
	require.NoError(t, err)
	require.False(t, r.Fits())
	require.Contains(t, r.String(), "pass WithoutSeekCompactions()")
	require.NoError(t, db.Close())
	_, err = goleveldb.CheckCache(o, db)
	require.ErrorIs(t, err, leveldb.ErrClosed)
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
