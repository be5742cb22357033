package pebblev2_test

import (
	"fmt"
	"math/rand"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// With Pebble's defaults, the memtables take the whole cache.
func TestCheckCacheDefaults(t *testing.T) {
	o := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}}
	configured(t, o, bloom(t, 10))
	_, err := pebblev2.CheckCache(o, nil)
	require.ErrorContains(t, err, "pass one that pebble.Open returned")
	db := open(t, "db", o)
	_, err = pebblev2.CheckCache(nil, db)
	require.ErrorContains(t, err, "pass those that the database was opened with")

	r, err := pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.True(t, r.Fits(), "without tables")
	keys := enginetest.Keys(enginetest.Rand(t, 130), 1000)
	put(t, db, keys)
	r, err = pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.Equal(t, pebblev2.CacheReport{
		Tables:    1,
		OpenFiles: ensured(o).MaxOpenFiles - 10,
		Filters:   uint64(len(filterOf(bloom(t, 10), keys))),
		Indexes:   r.Indexes, // TestCheckCacheRequires counts what it says
		MemTables: 2 * ensured(o).MemTableSize,
		Cache:     8 << 20,
	}, r)
	require.Positive(t, r.Indexes)
	require.Contains(t, ensured(o).String(), fmt.Sprintf("cache_size=%d\n", r.Cache))
	require.False(t, r.Fits())
	require.Equal(t, r.MemTables+2*(r.Filters+r.Indexes), r.Required())
	require.Contains(t, r.String(), "too small")
	require.Contains(t, r.String(),
		fmt.Sprintf("set Options.Cache to pebble.NewCache(%d)", r.Required()))

	shared := *o
	shared.Cache = pebble.NewCache(64 << 20)
	defer shared.Cache.Unref()
	defer shareFiles(&shared)()
	r, err = pebblev2.CheckCache(&shared, db)
	require.NoError(t, err)
	require.Equal(t, -1, r.OpenFiles)
	require.True(t, r.Fits())
	require.Contains(t, r.String(), "whose size Pebble does not report")

	o.MemTableSize = 1 << 20
	for less, fits := range []bool{true, false} {
		o.Cache = pebble.NewCache(2<<20 + 2*int64(r.Filters+r.Indexes) - int64(less))
		r, err := pebblev2.CheckCache(o, db)
		require.NoError(t, err)
		require.Equal(t, fits, r.Fits())
		o.Cache.Unref()
	}
	require.NoError(t, db.Close())
	_, err = pebblev2.CheckCache(o, db)
	require.ErrorIs(t, err, pebble.ErrClosed)
	_, err = pebblev2.FiltersOnDisk(db)
	require.ErrorIs(t, err, pebble.ErrClosed)
}

// CheckCache says that a database has no filters.
func TestCheckCacheWithoutFilters(t *testing.T) {
	o := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}, Cache: pebble.NewCache(64 << 20)}
	defer o.Cache.Unref()
	db := open(t, "db", o)
	put(t, db, enginetest.Keys(enginetest.Rand(t, 133), 10))
	r, err := pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.Zero(t, r.Filters)
	require.False(t, r.Fits())
	require.Contains(t, r.String(), "no table has a filter: pass the options to Configure")
	require.NoError(t, db.Close())
}

// Of an index in several parts, a lookup that a filter answers reads the top level alone.
func TestCheckCacheTopLevelIndex(t *testing.T) {
	o := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}}
	db := open(t, "db", configured(t, o, bloom(t, 10)))
	put(t, db, enginetest.Keys(enginetest.Rand(t, 134), 20_000))
	levels, err := db.SSTables(pebble.WithProperties())
	require.NoError(t, err)
	require.Len(t, levels[0], 1)
	p := levels[0][0].Properties
	require.Greater(t, p.IndexPartitions, uint64(1))
	r, err := pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.Equal(t, p.TopLevelIndexSize, r.Indexes)
	require.NoError(t, db.Close())
}

// With the settings that CheckCache requires, lookups of absent keys read next to nothing. With
// less, they read filters, indexes, or the heads of tables.
func TestCheckCacheRequires(t *testing.T) {
	if testing.Short() {
		t.Skip("writes more than a cache holds")
	}
	type report = pebblev2.CacheReport
	required := func(o *pebble.Options, r report) {
		o.Cache = pebble.NewCache(int64(r.Required()))
	}
	cache := func(r report) string {
		return fmt.Sprintf("set Options.Cache to pebble.NewCache(%d)", r.Required())
	}
	files := func(r report) string {
		return fmt.Sprintf("set Options.MaxOpenFiles to %d", r.Tables+r.Tables/4+10)
	}
	for _, c := range []struct {
		name       string
		bits       float64
		keys, size int   // how many, and the bytes of a value
		table      int64 // bytes
		less, full func(*pebble.Options, report)
		says       func(report) string
	}{
		{"large filters", 200, 50_000, 64, 128 << 10, func(o *pebble.Options, r report) {
			o.Cache = pebble.NewCache(int64(r.MemTables))
		}, required, cache},
		{"large indexes", 10, 8_000, 4_100, 512 << 10, func(o *pebble.Options, r report) {
			o.Cache = pebble.NewCache(int64(r.MemTables + 2*r.Filters))
		}, required, cache},
		{"many tables", 10, 50_000, 64, 16 << 10, func(o *pebble.Options, r report) {
			o.Cache, o.MaxOpenFiles = pebble.NewCache(64<<20), r.Tables/3
		}, func(o *pebble.Options, r report) {
			o.Cache, o.MaxOpenFiles = pebble.NewCache(64<<20), r.Tables+r.Tables/4+10
		}, files},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys := enginetest.Keys(enginetest.Rand(t, 131), c.keys+10_000)
			keys, absent := keys[:c.keys], keys[c.keys:]
			var reads atomic.Int64
			fs := reading(vfs.NewMem(), func() error { reads.Add(1); return nil })
			rng := rand.New(rand.NewSource(132))
			write := func(db *pebble.DB, keys [][]byte) {
				for _, key := range keys {
					value := make([]byte, c.size)
					rng.Read(value) // does not compress
					require.NoError(t, db.Set(key, value, pebble.NoSync))
				}
				require.NoError(t, db.Flush())
			}
			var r report
			for i, set := range []func(*pebble.Options){
				func(o *pebble.Options) { o.Cache = pebble.NewCache(64 << 20) },
				func(o *pebble.Options) { c.less(o, r) },
				func(o *pebble.Options) { c.full(o, r) },
			} {
				o := flat(small(pebble.FormatNewest), c.table)
				o.FS, o.MemTableSize, o.L0StopWritesThreshold = fs, 2<<20, 1000
				set(o)
				p := bloom(t, c.bits)
				db := openLoaded(t, "db", resting(configured(t, o, p, pebblev2.WithL6(p))))
				if i == 0 {
					write(db, keys)
				}
				for range 6 { // memtables grow up to their size
					write(db, keys[:(1<<20)/(c.size+50)])
				}
				compact(t, db)
				var err error
				r, err = pebblev2.CheckCache(o, db)
				require.NoError(t, err)
				require.Equal(t, i != 1, r.Fits(), "%v", r)
				var read float64
				for range 2 { // the first time fills the cache
					before := reads.Load()
					for _, key := range absent {
						found, err := pebblev2.Has(db, key)
						require.NoError(t, err)
						require.False(t, found)
					}
					read = float64(reads.Load()-before) / float64(len(absent))
				}
				t.Logf("%.3f reads for each absent key: %v", read, r)
				if i == 1 {
					require.Greater(t, read, 0.5)
					require.Contains(t, r.String(), c.says(r))
				} else {
					require.LessOrEqual(t, read, 0.05)
				}
				require.NoError(t, db.Close())
				o.Cache.Unref()
			}
		})
	}
}
