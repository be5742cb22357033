package goleveldb_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	leveldberrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// Sizes for databases of smallTables: portions of some tables, and stretches of less than one.
const portion, stretch = 100 << 10, 4 << 10

func rewrite(t testing.TB, db *leveldb.DB) {
	require.NoError(t, goleveldb.RewriteInPortions(context.Background(), db, portion, stretch, nil))
}

// requireContent checks that a database has these entries and no others.
func (e entries) requireContent(t testing.TB, db *leveldb.DB) {
	require.Zero(t, e.lost(t, db))
	it := db.NewIterator(nil, nil)
	defer it.Release()
	n := 0
	for ; it.Next(); n++ {
		if value, present := e[string(it.Key())]; !present || value != string(it.Value()) {
			require.Fail(t, "an entry that should not be", "%x: %q, want %q", it.Key(), it.Value(), value)
		}
	}
	require.NoError(t, it.Error())
	require.Equal(t, len(e), n)
}

// requireAllNew checks that none of the tables of before is there, and that a table has filters as in want.
func requireAllNew(t testing.TB, dir string, before map[string][]byte, want diskFilter) {
	after := tableFiles(t, dir)
	for name, data := range after {
		if _, old := before[name]; old {
			require.Fail(t, "a table that should be gone", name)
		}
		require.Equal(t, want, filterOnDisk(t, data), name)
	}
}

// From every setting to every other, on a database with tables in several levels: on disk no table of before is left,
// and all have the new filters.
func TestRewriteToAnotherSetting(t *testing.T) {
	theirs := func() *opt.Options {
		o := smallTables()
		o.Filter = filter.NewBloomFilter(10)
		return o
	}
	ours := func(bitsPerKey float64, name string, opts ...goleveldb.Option) *opt.Options {
		o := smallTables()
		require.NoError(t, goleveldb.Configure(o, bloom(t, bitsPerKey, policy.WithName(name)), opts...))
		return o
	}
	// k is floor(0.69 * bits per key).
	ten := diskFilter{policy.Name, 6, 11}
	for _, c := range []struct {
		name          string
		before, after *opt.Options
		had, has      diskFilter
	}{
		{"more bits", ours(10, policy.Name), ours(16, policy.Name), ten, diskFilter{policy.Name, 11, 11}},
		{"fewer bits", ours(10, policy.Name), ours(5, policy.Name), ten, diskFilter{policy.Name, 3, 11}},
		{"another name", ours(10, policy.Name), ours(10, "mine"), ten, diskFilter{"mine", 6, 11}},
		{"off", ours(10, policy.Name), smallTables(), ten, diskFilter{}},
		{"on", smallTables(), ours(10, policy.Name), diskFilter{}, ten},
		{"from goleveldb's own", theirs(), ours(10, policy.Name), diskFilter{policy.NameGoLevelDB, 6, 11}, ten},
		{"to goleveldb's own", ours(10, policy.Name), theirs(), ten, diskFilter{policy.NameGoLevelDB, 6, 11}},
		{"larger windows", ours(10, policy.Name), ours(10, policy.Name, goleveldb.WithFilterBaseLg(16)), ten, diskFilter{policy.Name, 6, 16}},
		{"LevelDB's windows again", ours(10, policy.Name, goleveldb.WithFilterBaseLg(21)), ours(10, policy.Name), diskFilter{policy.Name, 6, 21}, ten},
		{"nothing changed", ours(10, policy.Name), ours(10, policy.Name), ten, ten},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			content := entries{}
			db := open(t, dir, c.before)
			content.fill(t, db, 20, 3000)
			require.NoError(t, db.CompactRange(util.Range{})) // into the deepest level, which CompactRange leaves alone
			content.fill(t, db, 21, 600)
			require.NoError(t, db.Close())
			require.NoError(t, open(t, dir, c.before).Close()) // replays the log: everything is in tables now
			before := tableFiles(t, dir)
			require.Equal(t, map[diskFilter]int{c.had: len(before)}, filtersOnDisk(t, dir))
			require.Greater(t, len(before), 5)

			db = open(t, dir, c.after)
			rewrite(t, db)
			content.requireContent(t, db)
			require.NoError(t, db.Close())
			require.NoError(t, open(t, dir, c.after).Close()) // removes the files that are no longer used

			requireAllNew(t, dir, before, c.has)
			db = open(t, dir, c.after)
			content.requireContent(t, db)
			require.NoError(t, db.Close())
		})
	}
}

// What Rewrite is for: goleveldb's CompactRange alone leaves the tables of the deepest level as they are.
func TestCompactRangeRewritesNothing(t *testing.T) {
	options := func(bitsPerKey float64) *opt.Options {
		o := smallTables()
		o.CompactionTotalSize = 1 << 30 // level 1 takes all, so that no compaction starts by itself
		return configured(t, o, bloom(t, bitsPerKey))
	}
	dir := t.TempDir()
	db := open(t, dir, options(10))
	content := entries{}
	content.fill(t, db, 22, 3000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, options(10)).Close()) // removes the files that are no longer used
	before := tableFiles(t, dir)

	db = open(t, dir, options(16))
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	requireSameFiles(t, before, tableFiles(t, dir))
	db = open(t, dir, options(16))
	rewrite(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, options(16)).Close())
	requireAllNew(t, dir, before, diskFilter{policy.Name, 11, 11})
}

func requireSameFiles(t testing.TB, want, got map[string][]byte) {
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name := range want {
		require.True(t, bytes.Equal(want[name], got[name]), name)
	}
}

// Which policy answers, counted in the running database: before, the reader of the former filters, and after, the new
// policy alone, once for each key.
func TestRewriteChangesWhoAnswers(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	db := open(t, dir, configured(t, smallTables(), bloom(t, 10)))
	content.fill(t, db, 23, 4000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())

	former, mine := policy.Count(bloom(t, 10)), policy.Count(bloom(t, 16, policy.WithName("mine")))
	o := configured(t, configured(t, smallTables(), former), mine)
	db = open(t, dir, o)
	n := uint64(len(content))
	require.Zero(t, content.lost(t, db))
	require.Equal(t, policy.Counters{MayContain: n}, former.Snapshot())
	require.Zero(t, mine.Snapshot())

	rewrite(t, db)
	built := mine.Snapshot()
	require.Zero(t, built.Checks()-built.MayContain, "a key that is put again is there")
	require.GreaterOrEqual(t, built.Keys, n)
	before := former.Snapshot()
	require.Zero(t, content.lost(t, db))
	require.Zero(t, former.Snapshot().Sub(before).Checks(), "no table has its filters any more")
	require.Equal(t, policy.Counters{MayContain: n}, mine.Snapshot().Sub(built))
	require.NoError(t, db.Close())
}

// Writers, readers and snapshots go on meanwhile. What they wrote and deleted is as they left it: Rewrite never brings
// back an older value.
func TestRewriteUnderWriters(t *testing.T) {
	dir := t.TempDir()
	content := entries{}
	db := open(t, dir, configured(t, smallTables(), bloom(t, 10)))
	content.fill(t, db, 24, 5000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	before := tableFiles(t, dir)

	o := configured(t, smallTables(), bloom(t, 16))
	db = open(t, dir, o)
	all := make([]string, 0, len(content))
	for key := range content {
		all = append(all, key)
	}
	frozen, err := db.GetSnapshot()
	require.NoError(t, err)
	old := entries{}
	for key, value := range content {
		old[key] = value
	}

	const writers = 3
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	written := [writers]entries{}
	deleted := [writers]map[string]bool{}
	failures := make(chan error, writers)
	for w := range writers {
		written[w], deleted[w] = entries{}, map[string]bool{}
		rng := rand.New(rand.NewSource(int64(w)))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ctx.Err() == nil; i++ {
				key := all[rng.Intn(len(all))]
				if int(key[0])%writers != w { // each writer has keys of its own
					continue
				}
				want, present := written[w][key]
				if !present && !deleted[w][key] {
					want, present = old[key], true
				}
				got, err := db.Get([]byte(key), nil)
				switch {
				case err != nil && err != leveldb.ErrNotFound:
				case err == leveldb.ErrNotFound && present, err == nil && (!present || string(got) != want):
					err = fmt.Errorf("key %x: got %q, %v, want %q, %v", key, got, err, want, present)
				case rng.Intn(3) == 0:
					err = db.Delete([]byte(key), nil)
					delete(written[w], key)
					deleted[w][key] = true
				default:
					value := fmt.Sprintf("value %d of writer %d", i, w)
					err = db.Put([]byte(key), []byte(value), nil)
					written[w][key] = value
					delete(deleted[w], key)
				}
				if err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	// A stretch for each key: every key is written once more, while its writer may change it.
	require.NoError(t, goleveldb.RewriteInPortions(context.Background(), db, portion/4, 1, nil))
	cancel()
	wg.Wait()
	close(failures)
	require.NoError(t, <-failures)

	for w := range writers {
		require.NotEmpty(t, written[w])
		require.NotEmpty(t, deleted[w])
		for key, value := range written[w] {
			content[key] = value
		}
		for key := range deleted[w] {
			delete(content, key)
		}
	}
	content.requireContent(t, db)
	for key, value := range old {
		got, err := frozen.Get([]byte(key), nil)
		require.NoError(t, err)
		require.Equal(t, value, string(got))
	}
	frozen.Release()
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	requireAllNew(t, dir, before, diskFilter{policy.Name, 11, 11})
	db = open(t, dir, o)
	content.requireContent(t, db)
	require.NoError(t, db.Close())
}

// Databases at the edges, also with Rewrite's own sizes.
func TestRewriteSmallDatabases(t *testing.T) {
	for _, c := range []struct {
		name string
		fill func(t *testing.T, db *leveldb.DB, content entries)
	}{
		{"empty", func(*testing.T, *leveldb.DB, entries) {}},
		{"one key", func(t *testing.T, db *leveldb.DB, content entries) {
			content.put(t, db, []byte("key"), []byte("value"))
		}},
		{"the empty key", func(t *testing.T, db *leveldb.DB, content entries) {
			content.put(t, db, nil, []byte("value"))
		}},
		{"two keys", func(t *testing.T, db *leveldb.DB, content entries) {
			content.put(t, db, nil, nil)
			content.put(t, db, []byte("key"), []byte("value"))
		}},
		{"all deleted", func(t *testing.T, db *leveldb.DB, content entries) {
			for i := range 1000 {
				content.put(t, db, []byte(fmt.Sprint(i)), []byte("value"))
			}
			require.NoError(t, db.CompactRange(util.Range{}))
			for i := range 1000 {
				content.delete(t, db, []byte(fmt.Sprint(i)))
			}
		}},
		{"values larger than tables", func(t *testing.T, db *leveldb.DB, content entries) {
			rng := seeded(t, 25)
			for i := range 60 {
				value := make([]byte, 10+(i%2)*40_000)
				rng.Read(value)
				content.put(t, db, []byte(fmt.Sprintf("%02d", i)), value)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			content := entries{}
			db := open(t, dir, configured(t, smallTables(), bloom(t, 10)))
			c.fill(t, db, content)
			require.NoError(t, db.CompactRange(util.Range{}))
			require.NoError(t, db.Close())
			before := tableFiles(t, dir)

			o := configured(t, smallTables(), bloom(t, 16))
			for _, rewrite := range []func(*leveldb.DB) error{
				func(db *leveldb.DB) error { return goleveldb.Rewrite(context.Background(), db, nil) },
				func(db *leveldb.DB) error {
					return goleveldb.RewriteInPortions(context.Background(), db, 1, 1, nil)
				},
			} {
				db = open(t, dir, o)
				require.NoError(t, rewrite(db))
				content.requireContent(t, db)
				require.NoError(t, db.Close())
				require.NoError(t, open(t, dir, o).Close())
				requireAllNew(t, dir, before, diskFilter{policy.Name, 11, 11})
				before = tableFiles(t, dir)
				require.Equal(t, len(content) == 0, len(before) == 0)
			}
		})
	}
}

// A first entry as large as what the engine compacts at once goes down alone, and overlaps only its own surroundings. The
// keys of the stretches overlap the rest.
func TestRewriteNeedsStretches(t *testing.T) {
	dir := t.TempDir()
	o := configured(t, smallTables(), bloom(t, 10))
	db := open(t, dir, o)
	content := entries{}
	content.fill(t, db, 26, 4000)
	large := make([]byte, 3*o.CompactionTableSize)
	seeded(t, 29).Read(large)
	content.put(t, db, nil, large)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	before := tableFiles(t, dir)

	db = open(t, dir, o)
	passes := 0
	count := func(p goleveldb.RewriteProgress) { passes = p.Pass }
	require.NoError(t, goleveldb.RewriteInPortions(context.Background(), db, 1<<30, stretch, count))
	require.Equal(t, 1, passes)
	content.requireContent(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	requireAllNew(t, dir, before, diskFilter{policy.Name, 6, 11})
}

// A table that holds nothing but a deletion, which a snapshot kept alive, cannot be reached. Rewrite says so, and has
// rewritten the others.
func TestRewriteSaysWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	o := configured(t, smallTables(), bloom(t, 10))
	db := open(t, dir, o)
	content := entries{}
	content.put(t, db, []byte("a"), []byte("value"))
	require.NoError(t, db.CompactRange(util.Range{}))
	snapshot, err := db.GetSnapshot()
	require.NoError(t, err)
	require.NoError(t, db.Delete([]byte("z"), nil))
	require.NoError(t, db.CompactRange(util.Range{}))
	snapshot.Release()
	require.Equal(t, []int{0, 2}, tablesPerLevel(t, db))
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())

	o = configured(t, smallTables(), bloom(t, 16))
	db = open(t, dir, o)
	err = goleveldb.Rewrite(context.Background(), db, nil)
	require.ErrorIs(t, err, goleveldb.ErrTablesLeft)
	require.ErrorContains(t, err, "1 of 2")
	content.requireContent(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	require.Equal(t, map[diskFilter]int{{policy.Name, 6, 11}: 1, {policy.Name, 11, 11}: 1}, filtersOnDisk(t, dir))

	// The way out that the error's comment names.
	before := tableFiles(t, dir)
	db = open(t, dir, o)
	content.put(t, db, []byte("z"), []byte("value"))
	require.NoError(t, goleveldb.Rewrite(context.Background(), db, nil))
	content.requireContent(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	requireAllNew(t, dir, before, diskFilter{policy.Name, 11, 11})
}

func TestRewriteProgressAndCancel(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, configured(t, smallTables(), bloom(t, 10)))
	content := entries{}
	content.fill(t, db, 27, 5000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, configured(t, smallTables(), bloom(t, 10))).Close())
	o := configured(t, smallTables(), bloom(t, 16))
	before := len(tableFiles(t, dir))

	// Stopped in the middle, the first part has the new filters.
	db = open(t, dir, o)
	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int64
	err := goleveldb.RewriteInPortions(ctx, db, portion/4, stretch, func(p goleveldb.RewriteProgress) {
		if calls.Add(1); p.Done > p.Total/2 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Greater(t, calls.Load(), int64(1))
	content.requireContent(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	filters := filtersOnDisk(t, dir)
	require.Len(t, filters, 2)
	require.Greater(t, filters[diskFilter{policy.Name, 6, 11}], before/5)
	require.Greater(t, filters[diskFilter{policy.Name, 11, 11}], before/5)

	// To the end: the keys and the share rise, and end at the last key and at all.
	db = open(t, dir, o)
	var last goleveldb.RewriteProgress
	calls.Store(0)
	require.NoError(t, goleveldb.RewriteInPortions(context.Background(), db, portion/4, stretch, func(p goleveldb.RewriteProgress) {
		calls.Add(1)
		require.Equal(t, 1, p.Pass)
		require.Greater(t, string(p.Key), string(last.Key))
		require.Positive(t, p.Done)
		require.LessOrEqual(t, p.Done, p.Total)
		require.GreaterOrEqual(t, p.Done, last.Done/2, "it is an estimate")
		last = p
	}))
	require.Greater(t, calls.Load(), int64(2))
	require.Equal(t, last.Total, last.Done)
	for key := range content {
		require.LessOrEqual(t, key, string(last.Key))
	}
	require.NoError(t, db.Close())
}

func TestRewriteRefuses(t *testing.T) {
	ctx := context.Background()
	require.ErrorContains(t, goleveldb.Rewrite(ctx, nil, nil), "pass an open one")

	dir := t.TempDir()
	db := open(t, dir, configured(t, nil, bloom(t, 10)))
	content := entries{}
	content.put(t, db, []byte("key"), []byte("value"))
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	db = open(t, dir, configured(t, nil, bloom(t, 10))) // removes the file of the flush
	done, cancel := context.WithCancel(ctx)
	cancel()
	before := tableFiles(t, dir)
	require.ErrorIs(t, goleveldb.Rewrite(done, db, nil), context.Canceled)
	require.NoError(t, db.Close())
	require.ErrorIs(t, goleveldb.Rewrite(ctx, db, nil), leveldb.ErrClosed)

	db = openReadOnly(t, dir, bloom(t, 16))
	require.ErrorIs(t, goleveldb.Rewrite(ctx, db, nil), leveldb.ErrReadOnly)
	content.requireContent(t, db)
	require.NoError(t, db.Close())
	require.Len(t, before, 1)
	requireSameFiles(t, before, tableFiles(t, dir))
}

// A compaction of a database that is opened without checks drops what it cannot read. Rewrite looks first, and stops.
func TestRewriteStopsAtDamage(t *testing.T) {
	dir := t.TempDir()
	o := configured(t, smallTables(), bloom(t, 10))
	db := open(t, dir, o)
	content := entries{}
	content.fill(t, db, 28, 2000)
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	require.NoError(t, open(t, dir, o).Close())
	var damaged string
	for name, data := range tableFiles(t, dir) {
		if len(data) > 10_000 {
			copy(data, "\xff\xff\xff\xff\xff\xff") // the first data block says that it is too long to be uncompressed
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
			damaged = name
			break
		}
	}
	require.NotEmpty(t, damaged)

	o.Strict = opt.NoStrict
	db = open(t, dir, o)
	err := goleveldb.RewriteInPortions(context.Background(), db, portion, stretch, nil)
	require.True(t, leveldberrors.IsCorrupted(err), "%v", err)
	require.NoError(t, db.Close())
	require.Contains(t, slices.Collect(maps.Keys(tableFiles(t, dir))), damaged)
}
