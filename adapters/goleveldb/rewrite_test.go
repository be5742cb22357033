package goleveldb_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// tablesOf returns the property in which goleveldb lists the tables of db.
func tablesOf(t testing.TB, db *leveldb.DB) string {
	tables, err := db.GetProperty("leveldb.sstables")
	require.NoError(t, err)
	return tables
}

// requireRewritten calls Rewrite, and requires that it rewrites tables and reports its progress.
func requireRewritten(t testing.TB, o *opt.Options, db *leveldb.DB) {
	t.Helper()
	before, last, all := tablesOf(t, db), int64(-1), int64(0)
	require.NoError(t, goleveldb.Rewrite(context.Background(), o, db, func(done, total int64) {
		last, all = done, total
		require.LessOrEqual(t, done, total)
	}))
	require.NotEqual(t, before, tablesOf(t, db))
	require.Positive(t, all)
	require.Equal(t, all, last)
}

// requireNothingToRewrite requires that Rewrite writes nothing.
func requireNothingToRewrite(t testing.TB, o *opt.Options, db *leveldb.DB) {
	t.Helper()
	before := tablesOf(t, db)
	require.NoError(t, goleveldb.Rewrite(context.Background(), o, db, nil))
	require.Equal(t, before, tablesOf(t, db))
}

// requireFilters requires that all tables of db have filters of that name alone. It closes db,
// after which goleveldb may not yet have removed other tables.
func requireFilters(t testing.TB, db *leveldb.DB, dir, name string) {
	t.Helper()
	live := tablesOf(t, db)
	require.Contains(t, live, "[")
	require.NoError(t, db.Close())
	files, err := storage.OpenFile(dir, true)
	require.NoError(t, err)
	all, err := files.List(storage.TypeTable)
	require.NoError(t, err)
	for _, fd := range all {
		if !strings.Contains(live, fmt.Sprintf("\n%d:", fd.Num)) {
			continue
		}
		file, err := files.Open(fd)
		require.NoError(t, err)
		size, err := file.Seek(0, io.SeekEnd)
		require.NoError(t, err)
		table, err := sstable.OpenTable(file, size)
		require.NoError(t, err)
		require.Len(t, table.Filters(), 1)
		require.Equal(t, name, table.Filters()[0].Policy)
		require.NoError(t, file.Close())
	}
	require.NoError(t, files.Close())
}

// requireAllRewritten requires that Rewrite gives all tables of the database in dir the filters of o.
func requireAllRewritten(t testing.TB, dir string, o *opt.Options) {
	t.Helper()
	db := open(t, dir, o)
	requireRewritten(t, o, db)
	requireNothingToRewrite(t, o, db)
	requireFilters(t, db, dir, policy.NameLevelDB)
}

// fill writes keys to the database in dir, each with the value or, if that is nil, itself.
func fill(t testing.TB, dir string, o *opt.Options, keys [][]byte, value []byte, compact bool) {
	db := open(t, dir, o)
	for _, key := range keys {
		if value == nil {
			require.NoError(t, db.Put(key, key, nil))
		} else {
			require.NoError(t, db.Put(key, value, nil))
		}
	}
	if compact {
		require.NoError(t, db.CompactRange(util.Range{}))
	}
	require.NoError(t, db.Close())
}

func policyOf(t testing.TB, settings string) *policy.Policy {
	p, err := policy.FromString(settings)
	require.NoError(t, err)
	return p
}

// Rewrite replaces the filters of all former settings, wherever tables lie. Snapshots and iterators
// see what they saw. After that it writes nothing, in a database that was opened anew. TestSuite
// uses databases meanwhile.
func TestRewrite(t *testing.T) {
	for _, c := range []struct{ former, settings string }{ // as policy.FromString takes them
		{"", "ribbon:10"},
		{"goleveldb's own", "ribbon:10"},
		{"ribbon:10,name=other", "ribbon:10"},
		{"bloom:10", "ribbon:10"},
		{"ribbon:10", "bloom:10"},
		{"bloom:10", "bloom:16"},
		{"bloom:15", "ribbon:10"}, // as many probes as columns
		{"ribbon:16", "ribbon:10"},
		{"ribbon:8", "ribbon:4"},
	} {
		for _, shape := range []string{"last level", "several levels", "in order"} {
			t.Run(fmt.Sprint(c, shape), func(t *testing.T) {
				if testing.Short() && c.former != "" {
					t.SkipNow()
				}
				keys := testkit.Keys(testkit.Rand(t, 60), 4000)
				if shape == "in order" {
					slices.SortFunc(keys, bytes.Compare)
				}
				o, dir := smallTables(), t.TempDir()
				switch c.former {
				case "":
				case "goleveldb's own":
					o.Filter = filter.NewBloomFilter(10)
				default:
					configured(t, o, policyOf(t, c.former))
				}
				fill(t, dir, o, keys, nil, shape == "last level")

				o.Filter, o.AltFilters = nil, nil
				// Compactions that the former session left would give tables the new filters.
				o.CompactionL0Trigger, o.CompactionTotalSize = 1000, 1<<30
				db := open(t, dir, configured(t, o, policyOf(t, c.settings)))
				snapshot, err := db.GetSnapshot()
				require.NoError(t, err)
				iter := db.NewIterator(nil, nil)
				requireRewritten(t, o, db)
				found := 0
				for iter.Next() {
					found++
				}
				iter.Release()
				require.NoError(t, iter.Error())
				require.Equal(t, len(keys), found)
				for _, key := range keys {
					value, err := snapshot.Get(key, nil)
					require.NoError(t, err)
					require.Equal(t, key, value)
				}
				snapshot.Release()
				for _, key := range keys {
					value, err := db.Get(key, nil)
					require.NoError(t, err)
					require.Equal(t, key, value)
				}
				require.NoError(t, db.Close())
				db = open(t, dir, o) // writes the log to tables
				requireNothingToRewrite(t, o, db)
				requireFilters(t, db, dir, o.Filter.Name())
			})
		}
	}
}

// Rewrite reaches tables of few keys, the first and the last too, and bears with tables of a single
// key.
func TestRewriteFewKeys(t *testing.T) {
	for _, c := range []struct{ keys, size int }{
		{1, 10}, {2, 10}, {100, 5 << 10}, {100, 7 << 10}, {101, 9 << 10},
	} {
		o, dir := smallTables(), t.TempDir()
		value, keys := make([]byte, c.size), [][]byte(nil)
		testkit.Rand(t, 62).Read(value)
		for i := range c.keys {
			keys = append(keys, fmt.Appendf(nil, "%03d", i))
		}
		fill(t, dir, o, keys, value, true)
		db := open(t, dir, configured(t, o, ribbon(t)))
		requireRewritten(t, o, db)
		requireNothingToRewrite(t, o, db)
		for _, key := range keys {
			got, err := db.Get(key, nil)
			require.NoError(t, err)
			require.Equal(t, value, got)
		}
		requireFilters(t, db, dir, policy.NameLevelDB)
	}
}

// The deletions of a part fit into the write buffer: goleveldb makes transactions of larger
// batches.
func TestRewriteLargeKeys(t *testing.T) {
	o, dir := smallTables(), t.TempDir()
	db := open(t, dir, o)
	for i := range 3000 {
		require.NoError(t, db.Put(fmt.Appendf(nil, "%0500d", i), nil, nil))
	}
	for _, key := range testkit.Keys(testkit.Rand(t, 61), 30) {
		require.NoError(t, db.Put(slices.Concat([]byte("1"), key, make([]byte, 20<<10)), nil, nil))
	}
	require.NoError(t, db.Close())
	db = open(t, dir, configured(t, o, ribbon(t)))
	parts := 0
	require.NoError(t, goleveldb.Rewrite(context.Background(), o, db, func(_, _ int64) { parts++ }))
	require.Greater(t, parts, 1)
	log, err := os.ReadFile(filepath.Join(dir, "LOG"))
	require.NoError(t, err)
	require.NotContains(t, string(log), "transaction@")
	requireNothingToRewrite(t, o, db)
	require.NoError(t, db.Close())
}

// Parts go on where keys share more than the deletions of a part may have.
func TestRewriteSharedPrefix(t *testing.T) {
	o, dir := smallTables(), t.TempDir()
	db := open(t, dir, o)
	prefix := bytes.Repeat([]byte("x"), 9<<10)
	for i := range 40 {
		require.NoError(t, db.Put(fmt.Appendf(bytes.Clone(prefix), "%04d", i), nil, nil))
	}
	require.NoError(t, db.Close())
	o = configured(t, o, ribbon(t))
	db = open(t, dir, o)
	ctx, cancel := context.WithCancel(context.Background())
	parts := 0
	require.NoError(t, goleveldb.Rewrite(ctx, o, db, func(_, _ int64) {
		if parts++; parts > 100 {
			cancel()
		}
	}))
	requireNothingToRewrite(t, o, db)
	requireFilters(t, db, dir, policy.NameLevelDB)
}

// Old tables below newer keys are found, and small ones at the end.
func TestRewriteBelowNewKeys(t *testing.T) {
	for seed := range int64(6) {
		rng := testkit.Rand(t, 67+seed)
		keys, size, percent := testkit.Keys(rng, 3000), 0, 90
		slices.SortFunc(keys, bytes.Compare)
		if seed%2 == 1 {
			keys, size, percent = keys[:100+rng.Intn(200)], 1<<10, 50
		}
		o, dir := smallTables(), t.TempDir()
		value := make([]byte, size)
		rng.Read(value)
		fill(t, dir, o, keys, value, true)
		o = configured(t, level0Only(), ribbon(t)) // in which the new keys stay above
		o.CompactionTotalSize = 1 << 30
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		fill(t, dir, o, keys[:len(keys)*percent/100], value, false)
		requireAllRewritten(t, dir, o)
	}
}

// Small entries beside large ones may all be newer than these, or older.
func TestRewriteBesideLargeValues(t *testing.T) {
	for anew, size := range map[string]int{"body": 5 << 10, "meta": 50} {
		o, dir, value := smallTables(), t.TempDir(), make([]byte, 5<<10)
		o.CompactionTableSize = 512 << 10
		testkit.Rand(t, 74).Read(value)
		write := func(sizes map[string]int) {
			db := open(t, dir, o)
			for i := range 200 {
				for name, size := range sizes {
					key := fmt.Appendf(nil, "%04d/%s", i, name)
					require.NoError(t, db.Put(key, value[:size], nil))
				}
			}
			if len(sizes) > 1 {
				require.NoError(t, db.CompactRange(util.Range{}))
			}
			require.NoError(t, db.Close())
		}
		write(map[string]int{"body": 5 << 10, "meta": 50})
		o = configured(t, level0Only(), ribbon(t)) // in which the new keys stay above
		o.CompactionTotalSize = 1 << 30
		write(map[string]int{anew: size})
		requireAllRewritten(t, dir, o)
	}
}

// Keys that are in memory are no reason to rewrite tables, and no snapshot is left.
func TestRewriteInMemory(t *testing.T) {
	o, dir := configured(t, smallTables(), ribbon(t)), t.TempDir()
	keys := testkit.Keys(testkit.Rand(t, 68), 4000)
	fill(t, dir, o, keys, nil, true)
	o = configured(t, level0Only(), ribbon(t))
	o.CompactionTotalSize = 1 << 30 // so that no compaction starts by itself
	db := open(t, dir, o)
	for _, key := range keys[:200] {
		require.NoError(t, db.Put(key, nil, nil))
	}
	requireNothingToRewrite(t, o, db)
	snapshots, err := db.GetProperty("leveldb.alivesnaps")
	require.NoError(t, err)
	require.Equal(t, "0", snapshots)
	require.NoError(t, db.Close())
}

// Values may be larger than what a compaction overlaps, so that some or all tables have a single
// key, and tables smaller than the parts of a database between two lookups.
func TestRewriteSizes(t *testing.T) {
	for _, c := range []struct{ table, large, every, n int }{
		{16 << 10, 200 << 10, 1000, 3000}, {8 << 10, 20 << 10, 1, 100}, {1 << 10, 0, 1000, 9000},
	} {
		o, dir := smallTables(), t.TempDir()
		o.CompactionTableSize = c.table
		db := open(t, dir, o)
		large := make([]byte, c.large)
		testkit.Rand(t, 69).Read(large)
		for i, key := range testkit.Keys(testkit.Rand(t, 70), c.n) {
			if i%c.every == c.every-1 {
				for last := range byte(3) { // in a row: each in a table of its own
					require.NoError(t, db.Put(append(bytes.Clone(key), last), large, nil))
				}
			}
			require.NoError(t, db.Put(key, key, nil))
		}
		require.NoError(t, db.CompactRange(util.Range{}))
		require.NoError(t, db.Close())
		requireAllRewritten(t, dir, configured(t, o, ribbon(t)))
	}
}

// A context may be cancelled while a part is read. Then nothing is compacted.
func TestRewriteStops(t *testing.T) {
	o, dir := smallTables(), t.TempDir()
	fill(t, dir, o, testkit.Keys(testkit.Rand(t, 71), 1000), nil, true)
	o = configured(t, level0Only(), ribbon(t))
	o.CompactionTotalSize = 1 << 30 // so that no compaction starts by itself
	db := open(t, dir, o)
	before := tablesOf(t, db)
	ctx, cancel := context.WithCancel(context.Background())
	require.ErrorIs(t, goleveldb.Rewrite(&cancelled{ctx, cancel}, o, db, nil), context.Canceled)
	require.Equal(t, before, tablesOf(t, db))
	require.NoError(t, db.Close())
}

// cancelled is a context that is cancelled after its error was asked for once.
type cancelled struct {
	context.Context
	cancel func()
}

func (c *cancelled) Err() error {
	defer c.cancel()
	return c.Context.Err()
}

// Tables of level 0 overlap, and goleveldb consults the filters of all.
func TestRewriteLevel0(t *testing.T) {
	o, dir := configured(t, level0Only(), ribbon(t)), t.TempDir()
	fill(t, dir, o, testkit.Keys(testkit.Rand(t, 65), 5000), nil, false)
	db := open(t, dir, o)
	requireNothingToRewrite(t, o, db)
	require.NoError(t, db.Close())
}

// Rewrite goes on after its context was cancelled, and brings no data into the block cache.
func TestRewriteGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 300 MB")
	}
	o, dir := &opt.Options{NoSync: true, DisableSeeksCompaction: true}, t.TempDir()
	db := open(t, dir, o)
	rng := testkit.Rand(t, 63)
	for i := range 1500 { // four parts
		random := make([]byte, 100<<10)
		rng.Read(random)
		require.NoError(t, db.Put(fmt.Appendf(nil, "%04d", i), random, nil))
	}
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())

	db = open(t, dir, configured(t, o, ribbon(t)))
	ctx, cancel := context.WithCancel(context.Background())
	var done, total int64
	err := goleveldb.Rewrite(ctx, o, db, func(d, t int64) { done, total = d, t; cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Regexp(t, `^goleveldb: (98|99|100) of 14[78] MiB are left: `, err)
	require.InDelta(t, 48<<20, done, 10<<20)
	require.InDelta(t, 147<<20, total, 10<<20)
	var before, after leveldb.DBStats
	require.NoError(t, db.Stats(&before))
	requireRewritten(t, o, db)
	require.NoError(t, db.Stats(&after))
	require.InDelta(t, 99<<20, after.IOWrite-before.IOWrite, 20<<20, "the rest")
	require.Less(t, after.BlockCacheSize, 1<<20)
	requireNothingToRewrite(t, o, db)
	require.NoError(t, db.Close())
}

// Rewrite refuses what cannot work, says how much is left, and does not go through the whole
// database if new tables do not get filters.
func TestRewriteRefuses(t *testing.T) {
	ctx := context.Background()
	o, dir := smallTables(), t.TempDir()
	db := open(t, dir, o)
	ours := configured(t, smallTables(), ribbon(t))
	require.NoError(t, goleveldb.Rewrite(ctx, ours, db, nil), "an empty database")
	for _, key := range testkit.Keys(testkit.Rand(t, 64), 1000) {
		require.NoError(t, db.Put(key, key, nil))
	}
	require.NoError(t, db.CompactRange(util.Range{}))
	require.ErrorContains(t, goleveldb.Rewrite(ctx, nil, db, nil), "is nil")
	require.ErrorContains(t, goleveldb.Rewrite(ctx, ours, nil, nil), "is nil")
	require.ErrorContains(t, goleveldb.Rewrite(ctx, o, db, nil), "pass them to Configure")
	require.ErrorContains(t, goleveldb.Rewrite(ctx, ours, db, nil),
		"1 of 1 MiB are left: new tables do not get the filters of the options")
	require.NoError(t, db.Close())
	require.ErrorIs(t, goleveldb.Rewrite(ctx, ours, db, nil), leveldb.ErrClosed)

	ours.ReadOnly = true
	db = open(t, dir, ours)
	require.ErrorIs(t, goleveldb.Rewrite(ctx, ours, db, nil), leveldb.ErrReadOnly)
	require.NoError(t, db.Close())
	ours.ReadOnly = false
	db = open(t, dir, ours)
	requireRewritten(t, ours, db)
	require.NoError(t, db.Close())
	ours.ReadOnly = true
	db = open(t, dir, ours)
	requireNothingToRewrite(t, ours, db)
	require.NoError(t, db.Close())

	ours.Comparer = ordered{}
	require.ErrorContains(t, goleveldb.Rewrite(ctx, ours, db, nil),
		`cannot make up keys for the comparer "ordered": write all entries to a new database`)
}

// If the database has a comparer that the options do not name, nothing is logged: the keys that
// Rewrite makes up may be equal to others there.
func TestRewriteOtherComparer(t *testing.T) {
	for name, compare := range map[string]func(a, b []byte) int{
		"reversed":      func(a, b []byte) int { return bytes.Compare(b, a) },
		"first 8 bytes": func(a, b []byte) int { return bytes.Compare(a[:8], b[:8]) },
	} {
		t.Run(name, func(t *testing.T) {
			o, dir := smallTables(), t.TempDir()
			o.Comparer = ordered{comparer.DefaultComparer, compare}
			db := open(t, dir, o)
			for i := range 3000 {
				require.NoError(t, db.Put(fmt.Appendf(nil, "%08d", i), nil, nil))
			}
			require.NoError(t, db.CompactRange(util.Range{}))
			ours := configured(t, smallTables(), ribbon(t))
			before := tablesOf(t, db)
			require.ErrorContains(t, goleveldb.Rewrite(context.Background(), ours, db, nil),
				"MiB are left: the database has another comparer than the options")
			require.Equal(t, before, tablesOf(t, db))
			for i := range 3000 {
				found, err := db.Has(fmt.Appendf(nil, "%08d", i), nil)
				require.NoError(t, err)
				require.True(t, found)
			}
			require.NoError(t, db.Close())
		})
	}
}

// ordered is a comparer with another name and order.
type ordered struct {
	comparer.Comparer
	compare func(a, b []byte) int
}

func (ordered) Name() string                    { return "ordered" }
func (c ordered) Compare(a, b []byte) int       { return c.compare(a, b) }
func (ordered) Separator(_, _, _ []byte) []byte { return nil }
func (ordered) Successor(_, _ []byte) []byte    { return nil }
