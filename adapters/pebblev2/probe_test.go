package pebblev2_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// counted is a database without a block cache whose reads of data are counted: of blocks with keys,
// and of the parts of indexes. Filters, top-level indexes and range deletions are not: lookups
// require that a cache has room for them.
type counted struct {
	*pebble.DB
	options *pebble.Options
	filters enginetest.Watch
	data    map[fileRead]bool // what counts, without sizes
	reads   int
	all     int // reads of filters and the like too
}

// openCounted opens a database. Before it counts it must be reopened.
func openCounted(t testing.TB, comparer *pebble.Comparer) *counted {
	c := new(counted)
	o := resting(small(pebble.FormatNewest))
	o.Comparer = comparer
	smallBlocks(o)
	configured(t, o, ribbon(t, 10))
	for name, f := range o.Filters {
		o.Filters[name] = watched{f, &c.filters}
	}
	o.FS, o.Cache = reading(vfs.NewMem(), c.note), pebble.NewCache(1)
	t.Cleanup(o.Cache.Unref)
	o.DisableWAL = true // what is in memtables is gone when the database is reopened
	c.options = flat(o, 32<<10)
	c.DB = open(t, "db", o)
	return c
}

func (c *counted) note(r fileRead) error {
	c.all++
	r.size = 0
	if c.data[r] {
		c.reads++
	}
	return nil
}

// reopen opens the database again, with a cache of that many bytes. Memtables and cache are empty
// then, and Pebble reads nothing in the background.
func (c *counted) reopen(t testing.TB, cache int64) {
	require.NoError(t, c.Close())
	c.options.Cache = pebble.NewCache(cache)
	t.Cleanup(c.options.Cache.Unref)
	c.DB = openLoaded(t, "db", c.options)
	if c.data != nil { // the tables are the same
		return
	}
	c.data = make(map[fileRead]bool)
	names, err := c.options.FS.List("db")
	require.NoError(t, err)
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		layout := layoutOf(t, c.options, c.options.FS.PathJoin("db", name))
		for _, block := range layout.Data {
			c.data[fileRead{file: name, offset: int64(block.Offset)}] = true
		}
		if layout.TopIndex.Length == 0 {
			continue // an index in one part
		}
		for _, block := range layout.Index {
			c.data[fileRead{file: name, offset: int64(block.Offset)}] = true
		}
	}
}

// count returns how often look reads data, and how often filters answer "perhaps".
func (c *counted) count(look func()) (reads, perhaps int) {
	c.filters.Take()
	c.reads = 0
	look()
	for _, answers := range c.filters.Take() {
		perhaps += int(answers.MayContain)
	}
	return c.reads, perhaps
}

// requireFewReads requires that the lookups of a key answer as Reader.Get, read no more than that,
// and nothing if no filter answers "perhaps". It returns how much they may read.
func (c *counted) requireFewReads(t testing.TB, key []byte) (most int) {
	var want answer
	byGet, _ := c.count(func() { want = answerOf(c.Get(key)) })
	for name, look := range lookUps {
		var found bool
		var err error
		reads, perhaps := c.count(func() { found, err = look(c, key) })
		most = min(perhaps, 1) * byGet
		require.NoError(t, err)
		require.True(t, found == want.found || name == "MayContain", "%s, key %x", name, key)
		require.LessOrEqual(t, reads, most, "%s, key %x", name, key)
	}
	return most
}

// A program replaces the database's Get by the adapter's everywhere. No lookup of any key reads
// more than before, and MayContain reads no data at all.
func TestNeverMoreReads(t *testing.T) {
	for _, comparer := range getComparers {
		t.Run(comparer.Name, func(t *testing.T) { testNeverMoreReads(t, openCounted(t, comparer)) })
	}
}

func testNeverMoreReads(t *testing.T, db *counted) {
	set := func(key []byte) error { return db.Set(key, value(key), pebble.NoSync) }
	merge := func(key []byte) error { return db.Merge(key, value(key), pebble.NoSync) }
	del := func(key []byte) error { return db.Delete(key, pebble.NoSync) }
	delRange := func(key []byte) error {
		return db.DeleteRange(key[:len(key)-2], append(bytes.Clone(key[:len(key)-2]), 'A'), pebble.NoSync)
	}
	newer := func(key []byte) error { return set(append(bytes.Clone(key[:len(key)-1]), '7')) }
	older := func(key []byte) error { return set(append(bytes.Clone(key[:len(key)-1]), '3')) }
	type writes [4]func(key []byte) error // to L6, to a table of L0, to another, to the memtable
	kinds := []struct {
		name   string
		writes writes
	}{
		{"absent", writes{}},
		{"rewritten in L0", writes{set, set}},
		{"rewritten in the memtable", writes{set, nil, nil, set}},
		{"present in L6", writes{set}},
		{"deleted in L0", writes{set, del}},
		{"deleted in the memtable", writes{set, nil, nil, del}},
		{"merged in L0", writes{set, merge}},
		{"merged in the memtable", writes{set, nil, nil, merge}},
		{"merged above one table", writes{nil, set, nil, merge}},
		{"only in L0", writes{nil, set}},
		{"only in the memtable", writes{nil, nil, nil, set}},
		{"rewritten in two tables of L0", writes{set, set, set}},
		{"deleted and rewritten", writes{set, del, set}},
		{"in a deleted range", writes{set, delRange}},
		{"in a range deleted in the memtable", writes{set, nil, nil, delRange}},
		{"absent beside other versions", writes{newer, older}},
		{"present beside other versions", writes{set, newer, older}},
	}
	const each = 100
	all := testkit.Keys(testkit.Rand(t, 144), each*len(kinds))
	for i, key := range all {
		all[i] = fmt.Appendf(nil, "%x@5", key) // with a version
	}
	keys := func(kind int) [][]byte { return all[each*kind:][:each] }
	write := func(place int) {
		for kind, k := range kinds {
			if do := k.writes[place]; do != nil {
				for _, key := range keys(kind) {
					require.NoError(t, do(key))
				}
			}
		}
	}
	for place := range 3 {
		write(place)
		require.NoError(t, db.Flush())
		if place == 0 {
			compact(t, db.DB)
		}
	}
	db.reopen(t, 1)
	write(3)

	mostOf := make([]int, len(kinds))
	for kind, k := range kinds {
		before := db.all
		for _, key := range keys(kind) {
			answerOf(db.Get(key))
		}
		byGet := db.all - before
		for _, key := range keys(kind) {
			_, _ = pebblev2.Has(db, key)
		}
		t.Logf("nothing cached, %s: Get reads %.2f blocks, Has %.2f", k.name,
			float64(byGet)/each, float64(db.all-before-byGet)/each)
		for _, key := range keys(kind) {
			mostOf[kind] += db.requireFewReads(t, key)
			reads, _ := db.count(func() { _, _ = pebblev2.MayContain(db, key) })
			require.Zero(t, reads, "MayContain, %s", k.name)
		}
	}
	// The absent keys have HasMany keep its iterator, in which tables are open already.
	batch := slices.Concat(keys(0), keys(1), keys(2))
	slices.SortFunc(batch, bytes.Compare)
	reads, _ := db.count(func() {
		_, err := pebblev2.HasMany(db, batch)
		require.NoError(t, err)
	})
	require.LessOrEqual(t, reads, mostOf[0]+mostOf[1]+mostOf[2], "HasMany")

	// With filters and top-level indexes in the cache, a lookup reads one block more only if its
	// probe has credit, which is enough for four such lookups.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the pool has one probe
	earning := slices.Repeat(keys(0), 6*512/each)
	for kind, k := range kinds {
		reads := func(look func(keys [][]byte)) int {
			db.reopen(t, 64<<20)
			write(3)
			for i := 0; i < len(all); i += 10 {
				_, err := pebblev2.MayContain(db, all[i])
				require.NoError(t, err)
			}
			_, err := pebblev2.HasMany(db, earning)
			require.NoError(t, err)
			reads, _ := db.count(func() { look(keys(kind)) })
			return reads
		}
		each := func(look func(key []byte)) func(keys [][]byte) {
			return func(keys [][]byte) {
				for _, key := range keys {
					look(key)
				}
			}
		}
		byGet := reads(each(func(key []byte) { answerOf(db.Get(key)) }))
		require.Zero(t, reads(each(func(key []byte) { _, _ = pebblev2.MayContain(db, key) })))
		for name, look := range map[string]func(keys [][]byte){
			"Get":     each(func(key []byte) { answerOf(pebblev2.Get(db, key)) }),
			"Has":     each(func(key []byte) { _, _ = pebblev2.Has(db, key) }),
			"HasMany": func(keys [][]byte) { _, _ = pebblev2.HasMany(db, keys) },
		} {
			got := reads(look)
			t.Logf("filters cached, %s: DB.Get reads %d blocks, %s %d", k.name, byGet, name, got)
			require.LessOrEqual(t, got, byGet+4, "%s, %s", name, k.name)
		}
	}
	require.NoError(t, db.Close())
}

// Tables that were ingested and not yet flushed are in the queue of memtables. Pebble does not
// count in an iterator's statistics what it reads of them, so a probe lets none of their blocks
// through.
func TestIngestedReads(t *testing.T) {
	held := make(chan struct{})
	var reads atomic.Int64
	o := small(pebble.FormatNewest)
	smallBlocks(o)
	configured(t, o, ribbon(t, 10))
	o.FS = reading(vfs.NewMem(), func(fileRead) error { reads.Add(1); return nil })
	o.Cache = pebble.NewCache(64 << 20)
	defer o.Cache.Unref()
	o.MemTableStopWritesThreshold = 10
	o.EventListener = &pebble.EventListener{TableCreated: func(info pebble.TableCreateInfo) {
		if info.Reason == "flushing" {
			<-held
		}
	}}
	db := open(t, "db", o)
	release := sync.OnceFunc(func() { close(held) })
	defer release()

	all := testkit.Keys(testkit.Rand(t, 149), 4000)
	keys, absent := all[:1000], all[1000:]
	slices.SortFunc(keys, bytes.Compare)
	set := func() {
		for _, key := range keys {
			require.NoError(t, db.Set(key, nil, pebble.NoSync))
		}
	}
	set()
	for table := range 3 {
		var changes []enginetest.Change
		for _, key := range keys {
			changes = append(changes, enginetest.Change{Key: key, Value: value(key)})
		}
		path := fmt.Sprintf("table-%d", table)
		require.NoError(t, writeTableFor(db, o, path, changes))
		require.NoError(t, ingest(db, path))
	}
	set()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the pool has one probe
	for _, key := range keys {                      // filters and top-level indexes are cached
		_, err := pebblev2.MayContain(db, key)
		require.NoError(t, err)
	}
	_, err := pebblev2.HasMany(db, absent) // the probe has credit
	require.NoError(t, err)
	reads.Store(0)
	for _, key := range keys {
		require.True(t, requireSameAnswer(t, db, key).found)
	}
	_, err = pebblev2.HasMany(db, keys)
	require.NoError(t, err)
	require.Zero(t, reads.Load(), "the memtable has the keys")
	release()
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())
}

// Where all is cached, lookups take the iterator's answer, also of a probe that was careful before:
// each key's filter is checked once, and not by DB.Get again.
func TestCachedLookups(t *testing.T) {
	db := openCounted(t, pebble.DefaultComparer)
	all := testkit.Keys(testkit.Rand(t, 147), 4000)
	keys, absent := all[:1000], all[1000:]
	put(t, db.DB, keys)
	db.reopen(t, 64<<20)
	absent = slices.DeleteFunc(absent, func(key []byte) bool {
		may, err := pebblev2.MayContain(db, key)
		require.NoError(t, err)
		return may
	})
	for _, key := range keys { // all is cached
		answerOf(db.Get(key))
	}
	_, perhaps := db.count(func() {
		found, err := pebblev2.HasMany(db, slices.Concat(absent, keys))
		require.NoError(t, err)
		require.Equal(t, len(absent), slices.Index(found, true))
		require.NotContains(t, found[len(absent):], false)
	})
	require.Equal(t, len(keys), perhaps)
	require.NoError(t, db.Close())
}

// Has and Get consult no table that Pebble opens after the newest version. So they are right only
// as long as an iterator goes through L0 from the newest table to the oldest, and then from L1 to
// L6.
func TestNewestFirst(t *testing.T) {
	keys := testkit.Keys(testkit.Rand(t, 150), 1500)
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		configured := func() *pebble.Options { return configured(t, options(), ribbon(t, 10)) }
		fill(t, "db", configured, keys)
		var read []string // the tables, in their order
		o := flat(resting(configured()), 1<<20)
		o.FS = reading(o.FS, func(r fileRead) error { read = append(read, r.file); return nil })
		o.Cache = pebble.NewCache(1)
		defer o.Cache.Unref()
		db := openLoaded(t, "db", o)
		put(t, db, keys[:1000])
		put(t, db, keys[500:])
		levels, err := db.SSTables()
		require.NoError(t, err)
		slices.SortFunc(levels[0], func(a, b pebble.SSTableInfo) int {
			return cmp.Compare(b.LargestSeqNum, a.LargestSeqNum)
		})
		var newestFirst []string
		for _, table := range slices.Concat(levels...) {
			newestFirst = append(newestFirst, fmt.Sprintf("%s.sst", table.FileNum))
		}
		most := 0
		for _, key := range keys {
			read = nil
			_, err := pebblev2.MayContain(db, key)
			require.NoError(t, err)
			read = slices.Compact(read)
			require.True(t, slices.IsSortedFunc(read, func(a, b string) int {
				return slices.Index(newestFirst, a) - slices.Index(newestFirst, b)
			}), "key %x: %q of %q", key, read, newestFirst)
			most = max(most, len(read))
		}
		require.GreaterOrEqual(t, most, 5)
		require.NoError(t, db.Close())
	})
}

// Where all is cached, Has and Get consult no filter of a table below the newest version, however
// many there are, unless a merge needs it.
func TestNewestVersionAlone(t *testing.T) {
	pebblev2.SetReadPrice(t, 0)
	db := openCounted(t, pebble.DefaultComparer)
	keys := testkit.Keys(testkit.Rand(t, 151), 1000)
	for range 4 {
		put(t, db.DB, keys)
	}
	db.reopen(t, 64<<20)
	for _, key := range keys { // all that they need is cached
		requireSameAnswer(t, db, key)
	}
	for _, name := range []string{"Get", "Has"} {
		_, perhaps := db.count(func() {
			for _, key := range keys {
				found, err := lookUps[name](db, key)
				require.True(t, found && err == nil)
			}
		})
		require.Equal(t, len(keys), perhaps, name)
	}
	for _, key := range keys {
		require.NoError(t, db.Merge(key, []byte("more"), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	for range 2 { // at first, to cache all
		for _, key := range keys {
			require.Equal(t, string(value(key))+"more", requireSameAnswer(t, db, key).value)
		}
	}
	require.NoError(t, db.Close())
}

// Pebble reads tables without the mark even if all that follow the first block are excluded. So an
// old version may be there, and newer ones in excluded tables.
func TestUnmarkedBelowMarked(t *testing.T) {
	pebblev2.SetReadPrice(t, 0)
	options := func() *pebble.Options {
		o := flat(resting(small(pebble.FormatNewest)), 1<<20)
		o.Cache = pebble.NewCache(64 << 20)
		t.Cleanup(o.Cache.Unref)
		return o
	}
	unmarked := options()
	marked := configured(t, options(), ribbon(t, 2)) // a quarter of lookups are false positives
	unmarked.FS = vfs.NewMem()
	marked.FS = unmarked.FS
	all := testkit.Keys(testkit.Rand(t, 152), 1000)
	keys, others := all[:500], all[500:]
	db := open(t, "db", unmarked)
	put(t, db, keys)
	require.NoError(t, db.Close())
	db = open(t, "db", marked)
	for _, key := range keys {
		require.NoError(t, db.Set(key, []byte("new"), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	put(t, db, others) // a table with false positives of the keys
	for range 2 {      // at first, to cache all
		for _, key := range keys {
			require.Equal(t, "new", requireSameAnswer(t, db, key).value)
		}
	}
	require.NoError(t, db.Close())
}

// A lookup of a version does not step over all deleted ones before it, but leaves them to DB.Get,
// which checks the filter again.
func TestManyDeletedVersions(t *testing.T) {
	pebblev2.SetReadPrice(t, 0)
	db := openCounted(t, getComparers[1])
	for _, key := range []string{"a", "z"} { // before and after them, in the same table
		require.NoError(t, db.Set([]byte(key), nil, pebble.NoSync))
	}
	for version := 1000; version < 3000; version++ {
		require.NoError(t, db.Delete(fmt.Appendf(nil, "key@%d", version), pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	db.reopen(t, 64<<20)
	iter, err := db.NewIter(nil)
	require.NoError(t, err)
	for iter.First(); iter.Valid(); iter.Next() { // all is cached
	}
	require.NoError(t, iter.Close())
	_, perhaps := db.count(func() { requireSameAnswer(t, db, []byte("key@9999")) })
	require.Equal(t, 1+2+2+2+1, perhaps) // of DB.Get, Get, Has, HasMany and MayContain
	require.NoError(t, db.Close())
}

// A probe is given back once, however often the value of Get is closed.
func TestGetClosedTwice(t *testing.T) {
	o := small(pebble.FormatNewest)
	db := open(t, "db", configured(t, o, bloom(t, 10)))
	keys := testkit.Keys(testkit.Rand(t, 148), 100)
	for _, key := range keys { // in the memtable: the probe finds it
		require.NoError(t, db.Set(key, value(key), nil))
		_, closer, err := pebblev2.Get(db, key)
		require.NoError(t, err)
		require.NoError(t, errors.Join(closer.Close(), closer.Close()))
	}
	for i, key := range keys[1:] {
		got, closer, err := pebblev2.Get(db, key)
		require.NoError(t, err)
		_, otherCloser, err := pebblev2.Get(db, keys[i])
		require.NoError(t, err)
		require.Equal(t, value(key), got)
		require.NoError(t, errors.Join(closer.Close(), otherCloser.Close()))
	}
	require.NoError(t, db.Close())
}

// Goroutines do not share probes. With -race the test notices if they do.
func TestConcurrent(t *testing.T) {
	o := small(pebble.FormatNewest)
	db := open(t, "db", resting(configured(t, o, bloom(t, 10))))
	keys := testkit.Keys(testkit.Rand(t, 146), 400)
	put(t, db, keys[:200])
	var work sync.WaitGroup
	for range 4 {
		work.Add(1)
		go func() {
			defer work.Done()
			for i, key := range keys {
				got, err := pebbleReader{db}.Find(key)
				if err != nil || (got != nil) != (i < 200) {
					t.Errorf("key %x: %x, %v", key, got, err)
				}
			}
		}()
	}
	work.Wait()
	require.NoError(t, db.Close())
}
