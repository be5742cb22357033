package pebblev2_test

import (
	"cmp"
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

// CheckCache counts the tables by the names of their filters, and adds up the sizes of those that
// have others than the options give.
func TestCheckCacheCountsFilters(t *testing.T) {
	fs, keys := vfs.NewMem(), testkit.Keys(testkit.Rand(t, 113), 40)
	var r pebblev2.CacheReport
	var old uint64
	for i, name := range []string{"", "a", "b", "b"} {
		o := resting(small(pebble.FormatNewest))
		o.FS = fs
		if name != "" {
			o = configured(t, o, bloom(t, 10, policy.WithName(name)))
		}
		db := open(t, "db", o)
		put(t, db, keys[10*i:][:10])
		if name == "a" {
			tables, err := db.SSTables()
			require.NoError(t, err)
			old = tables[0][0].Size + tables[0][1].Size
		}
		var err error
		r, err = pebblev2.CheckCache(o, db)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	size := uint64(len(filterOf(bloom(t, 10), keys[:10]))) // the same for any ten keys
	require.Equal(t, levelsOf(0, pebblev2.LevelFilters{
		ByName: names{"a": 1, "b": 2}, Bytes: 3 * size, None: 1, Marked: 3, Old: 2, OldBytes: old,
	}), r.Levels)
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
		ByName: names{policy.NameLevelDB: 3 - hidden}, Bytes: uint64((3 - hidden) * size),
		Marked: 3 - hidden, Unknown: hidden,
	}), onDisk(t, db))
	require.NoError(t, db.Close())
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
// the filters, and of an index in parts the top level. They also read filters again that are larger
// than a shard, and those of databases that share a cache for one. With the caches that CheckCache
// requires, they read nothing.
func TestCheckCacheRequires(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16)) // a cache of 256 MiB has 64 shards
	for _, c := range []struct {
		name            string
		databases, keys int
		bits            float64 // without false positives
		tables          int64   // the size of each
		cache           uint64  // too small; 0 is enough for one of the databases
		set             func(o *pebble.Options)
	}{
		{"indexes in one part", 1, 2000, 40, 16 << 10, 1, func(*pebble.Options) {}},
		{"indexes in parts", 1, 2000, 40, 64 << 10, 1, smallBlocks},
		{"several databases", 8, 2000, 40, 16 << 10, 0, func(*pebble.Options) {}},
		{"a filter of 4.8 MiB", 1, 200_000, 200, 1 << 30, 256 << 20, func(o *pebble.Options) {
			o.MemTableSize = 64 << 20
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := testkit.Keys(testkit.Rand(t, 131), c.keys+200)
			o := resting(small(pebble.FormatNewest))
			o.FS, o.MemTableSize = vfs.NewMem(), 64<<10
			c.set(o)
			configured(t, flat(o, c.tables), bloom(t, c.bits))
			for i := range c.databases {
				db := open(t, fmt.Sprint(i), o)
				put(t, db, all[:c.keys])
				compact(t, db)
				r, err := pebblev2.CheckCache(o, db)
				require.NoError(t, err)
				c.cache = cmp.Or(c.cache, r.Required())
				require.NoError(t, db.Close())
			}
			again := map[fileRead]int{}
			o.FS = reading(o.FS, func(r fileRead) error { again[r]++; return nil })
			for _, enough := range []bool{false, true} {
				o.Cache = pebble.NewCache(int64(c.cache))
				defer o.Cache.Unref()
				var counted, required uint64 // of all databases
				dbs := make([]*pebble.DB, c.databases)
				for i := range dbs {
					dbs[i] = openLoaded(t, fmt.Sprint(i), o)
					r, err := pebblev2.CheckCache(o, dbs[i])
					require.NoError(t, err)
					require.Equal(t, enough || c.databases > 1, r.Fits(), "%v", r)
					require.Contains(t, r.String(), "if several share a cache, add up")
					counted, required = counted+r.Filters+r.Indexes, required+r.Required()
				}
				for range 2 { // the first time opens the tables, and fills the cache
					clear(again)
					for _, key := range all[c.keys:] {
						for _, db := range dbs {
							found, err := pebblev2.Has(db, key)
							require.NoError(t, err)
							require.False(t, found)
						}
					}
				}
				var reads, bytes int
				for read, n := range again {
					reads, bytes = reads+n, bytes+read.size
				}
				if enough {
					require.Zero(t, reads)
				} else {
					require.Greater(t, reads, 200*c.databases/2)
				}
				if c.cache == 1 {
					// Pebble reports sizes without checksums, and v1 those before compression.
					require.InEpsilon(t, counted, bytes, 0.02)
				}
				c.cache = required
				for _, db := range dbs {
					require.NoError(t, db.Close())
				}
			}
		})
	}
}
