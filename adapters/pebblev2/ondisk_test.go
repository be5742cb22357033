package pebblev2_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// FiltersOnDisk counts the tables by the names of their filters.
func TestFiltersOnDisk(t *testing.T) {
	_, err := pebblev2.FiltersOnDisk(nil)
	require.ErrorContains(t, err, "pass one that pebble.Open returned")

	dir, keys := t.TempDir(), policytest.Keys(policytest.Rand(t, 113), 40)
	var db *pebble.DB
	for i, name := range []string{"", "a", "b", "b"} {
		o := resting(small(pebble.FormatNewest))
		if name != "" {
			o = configured(t, o, bloom(t, 10, policy.WithName(name)))
		}
		db = open(t, dir, o)
		put(t, db, keys[10*i:][:10])
		if i < 3 {
			require.NoError(t, db.Close())
		}
	}
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	size := uint64(len(filterOf(bloom(t, 10), keys[:10]))) // the same for any ten keys
	require.Equal(t,
		pebblev2.LevelFilters{ByName: map[string]int{"a": 1, "b": 2}, Bytes: 3 * size, None: 1},
		levels[0])
	require.Equal(t, pebblev2.LevelFilters{ByName: map[string]int{}}, levels[1])
	require.NoError(t, db.Close())
}

// A table that replaces keys in the middle of another leaves two virtual ones of that.
func TestFiltersOnDiskVirtual(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	p := bloom(t, 10)
	db := open(t, "db", resting(configured(t, o, p, pebblev2.WithL6(p))))
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	put(t, db, keys)
	compact(t, db)
	excised := []enginetest.Change{{Key: keys[1]}}
	require.NoError(t, writeTableFor(db, o, "table", excised))
	require.NoError(t, ingestAndExcise(db, "table", keys[1], keys[2]))
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	size := len(filterOf(p, keys)) // the same for one key
	require.Equal(t, pebblev2.LevelFilters{
		ByName: map[string]int{policy.Name: 3 - hidden}, Bytes: uint64((3 - hidden) * size),
		Unknown: hidden,
	}, levels[6])
	require.NoError(t, db.Close())
}

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
	keys := policytest.Keys(policytest.Rand(t, 130), 1000)
	put(t, db, keys)
	r, err = pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.Equal(t, pebblev2.CacheReport{
		Filters:   uint64(len(filterOf(bloom(t, 10), keys))),
		MemTables: 2 * ensured(o).MemTableSize,
		Cache:     8 << 20,
	}, r)
	require.Contains(t, ensured(o).String(), fmt.Sprintf("cache_size=%d\n", r.Cache))
	require.False(t, r.Fits())
	require.Equal(t, r.MemTables+2*r.Filters, r.Required())
	require.Contains(t, r.String(), "too small")
	require.Contains(t, r.String(),
		fmt.Sprintf("set Options.Cache to pebble.NewCache(%d)", r.Required()))

	o.MemTableSize = 1 << 20
	for less, fits := range []bool{true, false} {
		o.Cache = pebble.NewCache(2<<20 + 2*int64(r.Filters) - int64(less))
		r, err := pebblev2.CheckCache(o, db)
		require.NoError(t, err)
		require.Equal(t, fits, r.Fits())
		o.Cache.Unref()
	}
	require.NoError(t, db.Close())
}

// In a cache of the size that CheckCache requires, lookups of absent keys read next to nothing. In
// one of two memtables, each reads filters.
func TestCheckCacheRequires(t *testing.T) {
	if testing.Short() {
		t.Skip("writes more than a cache holds")
	}
	keys := policytest.Keys(policytest.Rand(t, 131), 60_000)
	keys, absent := keys[:50_000], keys[50_000:]
	var reads atomic.Int64
	fs := reading(vfs.NewMem(), func() error { reads.Add(1); return nil })
	size := int64(64 << 20)
	var r pebblev2.CacheReport
	for try, atMost := range []float64{0.05, 100, 0.05} {
		o := flat(small(pebble.FormatNewest), 128<<10)
		o.FS, o.MemTableSize, o.Cache = fs, 2<<20, pebble.NewCache(size)
		o.L0StopWritesThreshold = 1000
		p := bloom(t, 200) // large filters of few keys, so that the test is quick
		db := open(t, "db", resting(configured(t, o, p, pebblev2.WithL6(p))))
		if try == 0 {
			put(t, db, keys)
		}
		for range 6 * min(try, 1) { // memtables grow up to their size
			put(t, db, keys[:10_000])
		}
		compact(t, db)

		var err error
		r, err = pebblev2.CheckCache(o, db)
		require.NoError(t, err)
		require.Equal(t, try != 1, r.Fits(), "%v", r)
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
		t.Logf("%.3f reads per miss: %v", read, r)
		require.Less(t, read, atMost)
		if try == 1 {
			require.Greater(t, read, 0.5)
		}
		require.NoError(t, db.Close())
		o.Cache.Unref()
		size = []int64{int64(r.MemTables), int64(r.Required())}[try%2]
	}
}
