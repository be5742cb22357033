package goleveldb_test

import (
	"fmt"
	"math/rand"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
)

// counted is a storage in memory that counts what happens to tables.
type counted struct {
	storage.Storage
	reads, written atomic.Int64 // reads of tables, and tables that were written
}

func newCounted() *counted { return &counted{Storage: storage.NewMemStorage()} }

func (s *counted) Create(fd storage.FileDesc) (storage.Writer, error) {
	if fd.Type == storage.TypeTable {
		s.written.Add(1)
	}
	return s.Storage.Create(fd)
}

func (s *counted) Open(fd storage.FileDesc) (storage.Reader, error) {
	r, err := s.Storage.Open(fd)
	if err != nil || fd.Type != storage.TypeTable {
		return r, err
	}
	return countedReader{r, s}, nil
}

type countedReader struct {
	storage.Reader
	s *counted
}

func (r countedReader) ReadAt(p []byte, off int64) (int, error) {
	r.s.reads.Add(1)
	return r.Reader.ReadAt(p, off)
}

// manyTables makes 100,000 keys have some hundred tables in two levels.
func manyTables() *opt.Options {
	return &opt.Options{
		WriteBuffer: 256 << 10, CompactionTableSize: 128 << 10, CompactionTotalSize: 256 << 10,
		BlockCacheCapacity: 64 << 20, OpenFilesCacheCapacity: 1000,
	}
}

// withTables returns a storage with a database of some keys, and other keys between them.
func withTables(t testing.TB, o *opt.Options, n int) (s *counted, absent [][]byte) {
	s = newCounted()
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
	s.written.Store(0)
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

// misses looks up absent keys of a database, and returns the reads for each.
func misses(t testing.TB, s *counted, db *leveldb.DB, absent [][]byte) (reads float64) {
	lookUp := func() {
		for _, key := range absent {
			_, err := db.Get(key, nil)
			require.ErrorIs(t, err, leveldb.ErrNotFound)
		}
	}
	lookUp() // fills the caches
	s.reads.Store(0)
	lookUp()
	return float64(s.reads.Load()) / float64(len(absent))
}

// CheckCache says whether lookups of absent keys are answered from memory, and what to set: on each
// side of each limit, the reads are counted.
func TestCheckCacheRequires(t *testing.T) {
	base := configured(t, manyTables(), ribbon(t), goleveldb.WithoutSeekCompactions())
	s, absent := withTables(t, base, 100_000)
	check := func(set func(*opt.Options)) (goleveldb.CacheReport, float64) {
		o := *base
		set(&o)
		db, err := leveldb.Open(s, &o)
		require.NoError(t, err)
		defer db.Close()
		r, err := goleveldb.CheckCache(&o, db)
		require.NoError(t, err)
		reads := misses(t, s, db, absent)
		t.Logf("%.4f reads for each absent key: %v", reads, r)
		require.Zero(t, s.written.Load(), "tables written by lookups")
		return r, reads
	}
	enough, reads := check(func(*opt.Options) {})
	require.True(t, enough.Fits())
	require.LessOrEqual(t, reads, 0.01)
	require.Greater(t, enough.Tables, 80)

	for _, c := range []struct {
		name  string
		set   func(*opt.Options)
		least float64 // reads for each absent key; 0 if at most 0.01
		says  string
	}{
		{"cache as required", func(o *opt.Options) {
			o.BlockCacheCapacity = int(enough.Required())
		}, 0, "has room for filters and indexes"},
		{"half a cache", func(o *opt.Options) {
			o.BlockCacheCapacity = int(enough.Required() / 2)
		}, 0.2, fmt.Sprintf("set Options.BlockCacheCapacity to %d", enough.Required())},
		{"no capacity", func(o *opt.Options) { o.BlockCacheCapacity = -1 }, 1,
			"the block cache (0.0 MiB)"},
		{"no cacher", func(o *opt.Options) { o.BlockCacher = opt.NoCacher }, 1,
			"the block cache (0.0 MiB)"},
		{"no cache, all open", func(o *opt.Options) { o.DisableBlockCache = true }, 0,
			"open tables keep filters and indexes"},
		{"files as required", func(o *opt.Options) { o.OpenFilesCacheCapacity = enough.Tables }, 0,
			fmt.Sprintf("has room for %d tables", enough.Tables)},
		{"a third of the files", func(o *opt.Options) {
			o.OpenFilesCacheCapacity = enough.Tables / 3
		}, 1, fmt.Sprintf("set Options.OpenFilesCacheCapacity to %d", enough.Tables*5/4)},
		{"no files", func(o *opt.Options) { o.OpenFilesCacheCapacity = -1 }, 1,
			"the file cache (0 tables)"},
		{"no cacher of files", func(o *opt.Options) { o.OpenFilesCacher = opt.NoCacher }, 1,
			"the file cache (0 tables)"},
		{"no filter", func(o *opt.Options) {
			o.Filter, o.AltFilters, o.BlockCacheCapacity = nil, nil, int(enough.Required())
		}, 1,
			"the options have no filter: pass them to Configure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, reads := check(c.set)
			require.Equal(t, c.least == 0, r.Fits())
			require.Contains(t, r.String(), c.says)
			if r.Fits() {
				require.LessOrEqual(t, reads, 0.01)
				require.NotContains(t, r.String(), "set ")
			} else {
				require.Greater(t, reads, c.least)
			}
		})
	}
}

// By default 300,000 lookups of absent keys make goleveldb rewrite tables, though filters answer
// them all. With WithoutSeekCompactions they write nothing.
func TestWithoutSeekCompactions(t *testing.T) {
	for _, c := range []struct {
		opts []goleveldb.Option
		fits bool
	}{
		{nil, false}, {[]goleveldb.Option{goleveldb.WithoutSeekCompactions()}, true},
	} {
		o := configured(t, manyTables(), ribbon(t), c.opts...)
		s, absent := withTables(t, o, 100_000)
		db, err := leveldb.Open(s, o)
		require.NoError(t, err)
		r, err := goleveldb.CheckCache(o, db)
		require.NoError(t, err)
		require.Equal(t, c.fits, r.Fits(), "%v", r)
		require.Equal(t, !c.fits, strings.Contains(r.String(), "pass WithoutSeekCompactions()"))
		for range 300_000 / len(absent) / 2 {
			misses(t, s, db, absent)
		}
		t.Logf("%d tables, written by lookups: %d", r.Tables, s.written.Load())
		if c.fits {
			require.Zero(t, s.written.Load())
		} else {
			require.Positive(t, s.written.Load(), "goleveldb has no such fault any more: README.md "+
				"and TESTING.md name it")
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

	require.NoError(t, db.Close())
	_, err = goleveldb.CheckCache(o, db)
	require.ErrorIs(t, err, leveldb.ErrClosed)
}
