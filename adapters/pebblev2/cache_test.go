package pebblev2_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// With Pebble's defaults, the memtables take the whole cache.
func TestCheckCacheDefaults(t *testing.T) {
	o := &pebble.Options{
		FS: vfs.NewMem(), Logger: quiet{}, FormatMajorVersion: pebble.FormatNewest,
	}
	configured(t, o, bloom(t, 10))
	db := open(t, "db", o)
	r, err := pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.True(t, r.Fits(), "without tables")
	require.Contains(t, r.String(), "there are no tables yet")
	keys := testkit.Keys(testkit.Rand(t, 130), 1000)
	put(t, db, keys)
	r, err = pebblev2.CheckCache(o, db)
	require.NoError(t, err)
	require.Equal(t, pebblev2.CacheReport{
		Levels:    r.Levels, // as TestCheckCacheCountsFilters says
		Tables:    1,
		OpenFiles: ensured(o).MaxOpenFiles - 10,
		Filters:   uint64(len(filterOf(bloom(t, 10), keys))),
		Largest:   r.Filters + r.Indexes,
		Indexes:   r.Indexes, // TestCheckCacheRequires counts what it says
		MemTables: 2 * ensured(o).MemTableSize,
		Cache:     8 << 20,
	}, r)
	require.Positive(t, r.Indexes)
	require.Contains(t, ensured(o).String(), fmt.Sprintf("cache_size=%d\n", r.Cache))
	require.False(t, r.Fits())
	require.Contains(t, r.String(), "too small")
	require.Contains(t, r.String(), "set Options.Cache to pebble.NewCache(16 << 20), or more")
	require.Less(t, r.Required(), uint64(16<<20))
	r.Cache = 16 << 20
	require.True(t, r.Fits())

	files := pebblev2.CacheReport{Levels: r.Levels, Tables: 100, OpenFiles: 125, Cache: 1 << 20}
	require.True(t, files.Fits())
	files.OpenFiles--
	require.False(t, files.Fits())
	require.Contains(t, files.String(), "set Options.MaxOpenFiles to 135")

	shared := *o
	shared.Cache = pebble.NewCache(64 << 20)
	defer shared.Cache.Unref()
	defer shareFiles(&shared)()
	r, err = pebblev2.CheckCache(&shared, db)
	require.NoError(t, err)
	require.Equal(t, -1, r.OpenFiles)
	require.True(t, r.Fits())
	require.Contains(t, r.String(), "whose size Pebble does not report")
	require.NoError(t, db.Close())
}

type names = map[string]int

// levelsOf returns what CheckCache counts in a database whose tables are all in one level.
func levelsOf(level int, filters pebblev2.LevelFilters) []pebblev2.LevelFilters {
	levels := make([]pebblev2.LevelFilters, 7)
	for i := range levels {
		levels[i].ByName = names{}
	}
	levels[level] = filters
	return levels
}

// CheckCache counts the tables by the names of their filters.
func TestCheckCacheCountsFilters(t *testing.T) {
	dir, keys := t.TempDir(), testkit.Keys(testkit.Rand(t, 113), 40)
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
	size := uint64(len(filterOf(bloom(t, 10), keys[:10]))) // the same for any ten keys
	require.Equal(t, levelsOf(0, pebblev2.LevelFilters{
		ByName: names{"a": 1, "b": 2}, Bytes: 3 * size, None: 1, Marked: 3,
	}), onDisk(t, db))
	require.NoError(t, db.Close())
}

// A table that replaces keys in the middle of another leaves two virtual ones of that.
func TestCheckCacheOfVirtualTables(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	p := bloom(t, 10)
	db := open(t, "db", resting(configured(t, o, p)))
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	put(t, db, keys)
	compact(t, db)
	excised := []enginetest.Change{{Key: keys[1]}}
	require.NoError(t, writeTableFor(db, o, "table", excised))
	require.NoError(t, ingestAndExcise(db, "table", keys[1], keys[2]))
	size := len(filterOf(p, keys)) // the same for one key
	require.Equal(t, levelsOf(6, pebblev2.LevelFilters{
		ByName: names{policy.Name: 3 - hidden}, Bytes: uint64((3 - hidden) * size),
		Marked: 3 - hidden, Unknown: hidden,
	}), onDisk(t, db))
	require.NoError(t, db.Close())
}

// What CheckCache says of a cache goes for one database, and for several if the cache is as large
// as they require together.
func TestCheckCacheOfSharedCache(t *testing.T) {
	all := testkit.Keys(testkit.Rand(t, 136), 3000)
	keys, absent := all[:2000], all[2000:]
	var reads int
	o := flat(small(pebble.FormatNewest), 16<<10)
	o.FS = reading(vfs.NewMem(), func(fileRead) error { reads++; return nil })
	o.MemTableSize = 64 << 10
	resting(configured(t, o, bloom(t, 200))) // has no false positives
	share := func(size uint64) (each, sum uint64) {
		o.Cache = pebble.NewCache(int64(size))
		defer o.Cache.Unref()
		dbs := make([]*pebble.DB, 8)
		for i := range dbs {
			dbs[i] = openLoaded(t, fmt.Sprint(i), o)
			if size == 1<<30 { // the first time
				put(t, dbs[i], keys)
				compact(t, dbs[i])
			}
			r, err := pebblev2.CheckCache(o, dbs[i])
			require.NoError(t, err)
			require.True(t, r.Fits())
			require.Contains(t, r.String(), "for one database: if several share a cache, add up")
			each, sum = max(each, r.Required()), sum+r.Required()
		}
		for range 2 { // the first time fills the cache
			reads = 0
			for i := range absent {
				for _, db := range dbs {
					found, err := pebblev2.Has(db, absent[i])
					require.NoError(t, err)
					require.False(t, found)
				}
			}
		}
		for _, db := range dbs {
			require.NoError(t, db.Close())
		}
		return each, sum
	}
	each, sum := share(1 << 30)
	share(each)
	require.Greater(t, reads, 8*len(absent)/2)
	share(sum)
	require.Zero(t, reads)
}

// The cache has room for two memtables, and for filters and indexes twice, and in each of its
// shards for the largest filter: here on a machine of 16 processors, where a cache has 64 shards if
// they have 4 MiB each, and 4 otherwise.
func TestCheckCacheShards(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	const mib = 1 << 20
	for _, c := range []struct {
		memTables, filters, largest, cache, required uint64
		say                                          string
	}{
		{0, 10 * mib, mib, 20*mib - 1, 24 * mib, "too small"},
		{0, 10 * mib, mib, 24*mib - 1, 24 * mib, "too small"},
		{0, 10 * mib, mib, 24 * mib, 24 * mib, "has room"},
		{8 * mib, 10 * mib, mib, 28*mib - 1, 32 * mib, "too small"},
		{8 * mib, 10 * mib, mib, 32*mib - 1, 32 * mib, "too small"},
		{8 * mib, 10 * mib, mib, 32 * mib, 32 * mib, "has room"},
		{0, 4 * mib, 4 * mib, 256*mib - 1, 24 * mib, "has room"},
		{0, 4 * mib, 4 * mib, 256 * mib, 24 * mib, "too small"},
		{0, 4 * mib, 4 * mib, 264 * mib, 24 * mib, "has room"},
		{0, 120 * mib, 4 * mib, 240 * mib, 496 * mib, "too small"}, // with 256 MiB, it has 64
		{0, 120 * mib, 4 * mib, 496 * mib, 496 * mib, "has room"},
	} {
		r := pebblev2.CacheReport{Levels: make([]pebblev2.LevelFilters, 7), OpenFiles: 1,
			MemTables: c.memTables, Filters: c.filters, Largest: c.largest, Cache: c.cache}
		require.Equal(t, c.say == "has room", r.Fits(), "%+v", c)
		require.Contains(t, r.String(), c.say, "%+v", c)
		require.Equal(t, c.required, r.Required(), "%+v", c)
		if _, advice, found := strings.Cut(r.String(), "pebble.NewCache("); found {
			_, err := fmt.Sscanf(advice, "%d << 20)", &r.Cache)
			require.NoError(t, err)
			r.Cache *= mib
			require.True(t, r.Fits(), "%+v", c)
		}
		r.Cache = r.Required()
		require.True(t, r.Fits(), "%+v", c)
	}
}

// A filter that is larger than its shard is read by each lookup, and none if CheckCache is
// followed.
func TestFilterLargerThanShard(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	all := testkit.Keys(testkit.Rand(t, 135), 200_200)
	keys, absent := all[:200_000], all[200_000:]
	reads := 0
	o := flat(small(pebble.FormatNewest), 1<<30)
	o.FS = reading(vfs.NewMem(), func(fileRead) error { reads++; return nil })
	o.MemTableSize = 64 << 20
	p := bloom(t, 200) // a filter of 4.8 MiB
	db := open(t, "db", resting(configured(t, o, p)))
	put(t, db, keys)
	compact(t, db)
	require.NoError(t, db.Close())
	size := int64(256 << 20) // 64 shards
	for _, fits := range []bool{false, true} {
		o.Cache = pebble.NewCache(size)
		db := openLoaded(t, "db", o)
		r, err := pebblev2.CheckCache(o, db)
		require.NoError(t, err)
		require.Equal(t, fits, r.Fits(), "%v", r)
		size = int64(r.Required())
		for range 2 { // the first time fills the cache
			reads = 0
			for _, key := range absent {
				found, err := pebblev2.Has(db, key)
				require.NoError(t, err)
				require.False(t, found)
			}
		}
		require.Equal(t, !fits, reads >= len(absent), "%d reads", reads)
		require.NoError(t, db.Close())
		o.Cache.Unref()
	}
}

// CheckCache says what is wrong with the options, and nothing where it cannot know.
func TestCheckCacheOfOptions(t *testing.T) {
	const notConfigured = "the options do not have the filters that Configure gives: pass them to " +
		"Configure before pebble.Open"
	var o *pebble.Options
	faultOf := func(opened, now *pebble.Options) string {
		db := open(t, "db", opened)
		defer db.Close()
		r, err := pebblev2.CheckCache(now, db)
		require.NoError(t, err)
		require.Equal(t, r.Fault == "", r.Fits())
		require.Contains(t, r.String(), r.Fault)
		return r.Fault
	}
	o = &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}, Cache: pebble.NewCache(64 << 20),
		FormatMajorVersion: pebble.FormatNewest}
	defer o.Cache.Unref()
	plain := o.Clone()
	require.Empty(t, faultOf(configured(t, o, bloom(t, 10)), o), "a new database")
	db := open(t, "db", o)
	put(t, db, testkit.Keys(testkit.Rand(t, 133), 10))
	require.NoError(t, db.Close())

	require.Equal(t, notConfigured, faultOf(plain, plain))
	withoutL6 := configured(t, o.Clone(), bloom(t, 10), pebblev2.WithLevel(6, nil))
	require.Empty(t, faultOf(withoutL6, withoutL6))

	large := o.Clone()
	indexBlocks(large, 0, 16<<10+1)
	configured(t, large, bloom(t, 10))
	require.Contains(t, faultOf(large, large), "index blocks of 16385 bytes are larger than 16384")

	db = open(t, "db", withoutL6)
	compact(t, db)
	put(t, db, testkit.Keys(testkit.Rand(t, 134), 10))
	compact(t, db)
	r, err := pebblev2.CheckCache(withoutL6, db)
	require.NoError(t, err)
	require.Equal(t, 1, r.Levels[6].None)
	require.True(t, r.Fits(), "that was chosen")
	require.Contains(t, r.String(), "1 tables have no filter, as the options say")
	require.NoError(t, db.Close())
}

// CheckCache counts what lookups of absent keys read again and again where nothing stays cached:
// the filters, and of an index in parts the top level. With the cache that it requires, nothing is
// read twice.
func TestCheckCacheRequires(t *testing.T) {
	all := testkit.Keys(testkit.Rand(t, 131), 4000)
	keys, absent := all[:2000], all[2000:]
	for _, inParts := range []bool{false, true} {
		o := small(pebble.FormatNewest)
		if inParts {
			smallBlocks(o)
		}
		flat(o, 16<<10)
		p := bloom(t, 200) // has no false positives
		configured(t, o, p)
		var again map[fileRead]bool // not nil while reads are noted
		o.FS = reading(vfs.NewMem(), func(r fileRead) error {
			if again != nil {
				again[r] = true
			}
			return nil
		})
		db := open(t, "db", resting(o))
		put(t, db, keys)
		compact(t, db)
		require.NoError(t, db.Close())

		o.MemTableSize = 64 << 10
		size := int64(1)
		for _, fits := range []bool{false, true} {
			o.Cache = pebble.NewCache(size)
			db := openLoaded(t, "db", o)
			r, err := pebblev2.CheckCache(o, db)
			require.NoError(t, err)
			require.Equal(t, fits, r.Fits(), "%v", r)
			lookUp := func() {
				for _, key := range absent {
					found, err := pebblev2.Has(db, key)
					require.NoError(t, err)
					require.False(t, found)
				}
			}
			lookUp() // opens the tables, and fills the cache
			again = make(map[fileRead]bool)
			lookUp()
			if fits {
				require.Empty(t, again)
			} else {
				var bytes int
				for read := range again {
					bytes += read.size
				}
				// Pebble reports sizes without checksums, and v1 those before compression.
				require.InEpsilon(t, r.Filters+r.Indexes, bytes, 0.02)
			}
			again = nil
			require.NoError(t, db.Close())
			o.Cache.Unref()
			size = int64(r.Required())
		}
	}
}
