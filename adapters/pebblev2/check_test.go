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
func TestCheckDefaults(t *testing.T) {
	o := &pebble.Options{
		FS: vfs.NewMem(), Logger: quiet{}, FormatMajorVersion: pebble.FormatNewest,
	}
	configured(t, o, bloom(t, 10))
	db := open(t, "db", o)
	r, err := pebblev2.Check(o, db)
	require.NoError(t, err)
	require.Empty(t, r.Warnings, "without tables")
	require.Contains(t, r.String(), "there are no tables yet")
	keys := testkit.Keys(testkit.Rand(t, 130), 1000)
	put(t, db, keys)
	r, err = pebblev2.Check(o, db)
	require.NoError(t, err)
	require.Equal(t, 1, r.Levels[0].Tables)
	require.EqualValues(t, len(filterOf(bloom(t, 10), keys)), r.Levels[0].FilterBytes)
	require.EqualValues(t, 9<<20, r.Required, "the memtables, a MiB, and no more")
	require.Equal(t, 1+10, r.RequiredFiles)
	require.Contains(t, ensured(o).String(), fmt.Sprintf("cache_size=%d\n", 8<<20))
	require.Len(t, r.Warnings, 1)
	require.Contains(t, r.Warnings[0], "the block cache (8.0 MiB) is too small: set Options.Cache to "+
		"pebble.NewCache(9 << 20), or more")
	require.Contains(t, r.String(), fmt.Sprintf("the file cache (%d tables) has room for 1 tables",
		ensured(o).MaxOpenFiles-10))

	put(t, db, keys[:2]) // a smaller table, which comes last
	shared := *o
	shared.Cache = pebble.NewCache(int64(r.Required))
	defer shared.Cache.Unref()
	defer shareFiles(&shared)()
	r, err = pebblev2.Check(&shared, db)
	require.NoError(t, err)
	require.Empty(t, r.Warnings)
	require.Contains(t, r.String(), "whose size Pebble does not report")
	require.Contains(t, r.String(), "and the largest of them (2 KiB) in each of")
	require.NoError(t, db.Close())
}

// Check counts tables and the sizes of their filters, and those that have others than the options
// give, which it expects to get these.
func TestCheckCounts(t *testing.T) {
	fs, keys := vfs.NewMem(), testkit.Keys(testkit.Rand(t, 113), 40)
	size := uint64(len(filterOf(bloom(t, 10), keys[:10]))) // the same for any ten keys
	for i, name := range []string{"", "a", "b", "b"} {
		o := resting(small(pebble.FormatNewest))
		o.FS = fs
		if name != "" {
			o = configured(t, o, bloom(t, 10, policy.WithName(name)))
		}
		db := open(t, "db", o)
		put(t, db, keys[10*i:][:10])
		tables, err := db.SSTables(pebble.WithProperties())
		require.NoError(t, err)
		var old, indexes, oldBytes uint64
		for _, table := range tables[0] {
			indexes += table.Properties.IndexSize
			if table.Properties.FilterPolicyName != name {
				old++
				oldBytes += table.Size
			}
		}
		r, err := pebblev2.Check(o, db)
		require.NoError(t, err)
		l0 := r.Levels[0]
		require.Equal(t, i+1, l0.Tables)
		require.Equal(t, uint64(i)*size, l0.FilterBytes)
		require.EqualValues(t, old, l0.Old)
		if name != "" {
			require.Equal(t, uint64(i+1)*size+indexes, pebblev2.Blocks(r), "once rewritten")
		}
		if old > 0 {
			require.Contains(t, r.Warnings[0], fmt.Sprintf("%d of %d tables have no filter", old, i+1))
			require.Contains(t, r.Warnings[0], fmt.Sprintf("writes their %d KiB anew",
				(oldBytes+1023)/1024))
		}
		require.NoError(t, db.Close())
	}
}

// A table that replaces a key in the middle of another leaves two virtual ones of that. Where
// Pebble hides their filters, Check takes them for old, and counts what Rewrite gives them.
func TestCheckOfVirtualTables(t *testing.T) {
	o := resting(flat(small(pebble.FormatNewest), 1<<20))
	p := bloom(t, 10)
	db := open(t, "db", configured(t, o, p))
	keys := make([][]byte, 2001)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "%08d", i)
	}
	put(t, db, keys)
	compact(t, db)
	excised := []enginetest.Change{{Key: keys[1000]}}
	require.NoError(t, writeTableFor(db, o, "table", excised))
	require.NoError(t, ingestAndExcise(db, "table", keys[1000], keys[1001]))
	require.Equal(t, filterCount{byName: map[string]int{policy.NameLevelDB: 3 - hidden},
		marked: 3 - hidden, hidden: hidden}, onDisk(t, db)[6])
	r, err := pebblev2.Check(o, db)
	require.NoError(t, err)
	require.Equal(t, 3, r.Levels[6].Tables)
	require.Equal(t, hidden, r.Levels[6].Old)
	of := func(keys [][]byte) uint64 { return uint64(len(filterOf(p, keys))) }
	if hidden > 0 {
		require.Equal(t, of(keys[:1]), r.Levels[6].FilterBytes)
		require.Contains(t, r.Warnings[0], "2 of 3 tables have no filter, another one or no mark, or "+
			"are virtual, and Pebble does not report their filters (2 in L6)")
		counted := pebblev2.Blocks(r)
		requireRewritten(t, o, db)
		r, err = pebblev2.Check(o, db)
		require.NoError(t, err)
		require.GreaterOrEqual(t, counted, pebblev2.Blocks(r))
		require.InEpsilon(t, pebblev2.Blocks(r), counted, 0.25)
		require.Equal(t, of(keys[:2000]), r.Levels[6].FilterBytes)
	}
	require.Empty(t, r.Warnings)
	require.NoError(t, db.Close())
}

// Check says what is wrong with the options, and nothing where it cannot know.
func TestCheckOfOptions(t *testing.T) {
	const notConfigured = "the options do not have the filters that Configure gives: pass them to " +
		"Configure before pebble.Open"
	var o *pebble.Options
	faultOf := func(opened, now *pebble.Options) string {
		db := open(t, "db", opened)
		defer db.Close()
		r, err := pebblev2.Check(now, db)
		require.NoError(t, err)
		return strings.Join(r.Warnings, "\n")
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
	withoutL6 := configured(t, o.Clone(), bloom(t, 10), pebblev2.WithLevel(6, noFilters))
	require.Empty(t, faultOf(withoutL6, withoutL6))

	large := o.Clone()
	indexBlocks(large, 0, 16<<10+1)
	configured(t, large, bloom(t, 10))
	require.Contains(t, faultOf(large, large), "index blocks of 16385 bytes are larger than 16384")

	db = open(t, "db", withoutL6)
	compact(t, db)
	put(t, db, testkit.Keys(testkit.Rand(t, 134), 10))
	compact(t, db)
	r, err := pebblev2.Check(withoutL6, db)
	require.NoError(t, err)
	require.Empty(t, r.Warnings, "that was chosen")
	require.Contains(t, r.String(), "the options give no filters to L6: lookups may read its tables")
	require.NoError(t, db.Close())
}

// Check counts what lookups of absent keys read again and again where nothing stays cached:
// the filters, and of an index in parts the top level. They also read filters again that are larger
// than a shard, and those of databases that share a cache for one. With the caches that Check
// requires, they read nothing.
func TestCheckRequires(t *testing.T) {
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
		{"several databases", 8, 8000, 200, 64 << 10, 0, func(*pebble.Options) {}},
		{"a filter of 4.8 MiB", 1, 200_000, 200, 1 << 30, 256 << 20, func(*pebble.Options) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := testkit.Keys(testkit.Rand(t, 131), c.keys+200)
			o := resting(small(pebble.FormatNewest))
			o.MemTableSize = 64 << 10
			c.set(o)
			configured(t, flat(o, c.tables), bloom(t, c.bits))
			for i := range c.databases {
				filling := *o
				filling.MemTableSize = 64 << 20
				db := open(t, fmt.Sprint(i), &filling)
				put(t, db, all[:c.keys])
				compact(t, db)
				r, err := pebblev2.Check(o, db)
				require.NoError(t, err)
				c.cache = cmp.Or(c.cache, r.Required)
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
					r, err := pebblev2.Check(o, dbs[i])
					require.NoError(t, err)
					require.Equal(t, enough || c.databases > 1, len(r.Warnings) == 0, "%v", r)
					require.Contains(t, r.String(), "if several share a cache, add up")
					counted, required = counted+pebblev2.Blocks(r), required+r.Required
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
