package goleveldb_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

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

// Lookups of absent keys are answered from memory if all tables stay open and the block cache has
// room for filters and indexes twice: on each side of each limit, the reads are counted. Check
// says what to set, and what goleveldb has in its cache.
func TestCheckRequires(t *testing.T) {
	base := configured(t, &opt.Options{ // 100,000 keys have some hundred tables in two levels
		WriteBuffer: 256 << 10, CompactionTableSize: 128 << 10, CompactionTotalSize: 256 << 10,
		BlockCacheCapacity: 64 << 20, OpenFilesCacheCapacity: 1000, DisableSeeksCompaction: true,
	}, ribbon(t))
	s, keys := storage.NewMemStorage(), testkit.Keys(testkit.Rand(t, 140), 110_000)
	keys, absent := keys[:100_000], keys[100_000:]
	db, err := leveldb.Open(s, base)
	require.NoError(t, err)
	value, rng := make([]byte, 100), testkit.Rand(t, 141)
	for _, key := range keys {
		rng.Read(value) // does not compress
		require.NoError(t, db.Put(key, value, nil))
	}
	settle(t, db, base)
	require.NoError(t, db.Close())

	check := func(set func(*opt.Options), inMemory bool) goleveldb.Report {
		o := *base
		set(&o)
		db, err := leveldb.Open(s, &o)
		require.NoError(t, err)
		defer db.Close()
		half := len(absent) / 2
		var start, end leveldb.DBStats
		requireAbsent(t, db, absent[:half]) // fills the caches
		require.NoError(t, db.Stats(&start))
		requireAbsent(t, db, absent[half:])
		require.NoError(t, db.Stats(&end))
		r, err := goleveldb.Check(&o, db)
		require.NoError(t, err)
		// Nearly nothing is 0.01 reads of a block. Blocks are larger, if anything.
		read := float64(end.IORead-start.IORead) / float64(half)
		require.Equal(t, inMemory, read <= 0.01*4096, "%v bytes per absent key: %v", read, r)
		require.Equal(t, start.IOWrite, end.IOWrite)
		return r
	}
	check(func(*opt.Options) {}, true)
	needed, tables := blockSizes(t, s), len(testkit.Must(s.List(storage.TypeTable)))

	for _, c := range []struct {
		name     string
		set      func(*opt.Options)
		inMemory bool
		says     string
	}{
		{"cache as required", func(o *opt.Options) { o.BlockCacheCapacity = 2 * needed }, true,
			fmt.Sprintf("the block cache (%d MiB) must", 2*needed>>20)},
		{"half of filters and indexes", func(o *opt.Options) { o.BlockCacheCapacity = needed / 2 },
			false, "MiB) must have room for the filters and indexes of all tables"},
		{"no cacher", func(o *opt.Options) { o.BlockCacher = opt.NoCacher }, false,
			"the block cache (0 MiB)"},
		{"no cache, all open", func(o *opt.Options) { o.DisableBlockCache = true }, true,
			"open tables keep filters and indexes"},
		{"files as required", func(o *opt.Options) { o.OpenFilesCacheCapacity = tables }, true,
			fmt.Sprintf("has room for %d tables", tables)},
		{"a third of the files", func(o *opt.Options) {
			o.OpenFilesCacheCapacity = tables / 3
		}, false, fmt.Sprintf("set Options.OpenFilesCacheCapacity to %d", tables*5/4)},
		{"no cacher of files", func(o *opt.Options) { o.OpenFilesCacher = opt.NoCacher }, false,
			"the file cache (0 tables)"},
		{"no filter", func(o *opt.Options) {
			o.Filter, o.AltFilters, o.BlockCacheCapacity = nil, nil, 2*needed
		}, false, "the options have no filter: pass them to Configure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, check(c.set, c.inMemory).String(), c.says)
		})
	}
}

// The report has what goleveldb reports and what the options say. What cannot be checked is an
// error.
func TestCheck(t *testing.T) {
	o := configured(t, &opt.Options{DisableSeeksCompaction: true}, ribbon(t))
	db, err := leveldb.Open(storage.NewMemStorage(), o)
	require.NoError(t, err)
	_, err = goleveldb.Check(nil, db)
	require.ErrorContains(t, err, "the options or the database is nil: pass one")
	_, err = goleveldb.Check(o, nil)
	require.ErrorContains(t, err, "the options or the database is nil: pass one")

	require.NoError(t, db.Put([]byte("key"), nil, nil))
	for _, say := range []string{"there are no tables yet", "(500 tables) has room for 1 tables"} {
		r, err := goleveldb.Check(o, db)
		require.NoError(t, err)
		require.Empty(t, r.Warnings)
		require.Contains(t, r.String(), say)
		require.Contains(t, r.String(), "the block cache (8 MiB) must have room")
		settle(t, db, o) // writes the first table
	}

	seeks := *o
	seeks.DisableSeeksCompaction = false
	r, err := goleveldb.Check(&seeks, db)
	require.NoError(t, err)
	require.Equal(t, []string{"lookups start compactions: set Options.DisableSeeksCompaction"},
		r.Warnings)
	require.Contains(t, r.String(), "cannot see which tables have filters")
	seeks.ReadOnly = true // then they start none
	r, err = goleveldb.Check(&seeks, db)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
	own := *o
	own.Comparer = ordered{}
	r, err = goleveldb.Check(&own, db)
	require.NoError(t, err)
	require.Contains(t, r.String(), "Rewrite gives none, with the comparer \"ordered\": write all")
	require.NoError(t, db.Close())
	_, err = goleveldb.Check(o, db)
	require.ErrorIs(t, err, leveldb.ErrClosed)
}

// blockSizes returns the bytes of the filters and indexes of all tables.
func blockSizes(t testing.TB, s storage.Storage) (sum int) {
	tables, err := s.List(storage.TypeTable)
	require.NoError(t, err)
	for _, fd := range tables {
		file, err := s.Open(fd)
		require.NoError(t, err)
		defer file.Close()
		size, err := file.Seek(0, io.SeekEnd)
		require.NoError(t, err)
		table, err := sstable.OpenTable(file, size)
		require.NoError(t, err)
		sum += int(table.IndexSize())
		for _, f := range table.Filters() {
			sum += int(f.Handle.Length)
		}
	}
	return sum
}
