package pebblev2_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

// counted is a database whose reads are counted. Its tables are of a few levels and have filters
// and, if marked, the mark; cache is the size of its block cache in bytes.
type counted struct {
	*pebble.DB
	reads   *atomic.Int64
	options func() *pebble.Options
}

func openCounted(t testing.TB, marked bool, cache int64) *counted {
	c := &counted{reads: new(atomic.Int64)}
	fs := reading(vfs.NewMem(), func() error { c.reads.Add(1); return nil })
	blocks := pebble.NewCache(cache)
	t.Cleanup(blocks.Unref)
	p := ribbon(t, 10)
	c.options = func() *pebble.Options {
		o := resting(flat(small(pebble.FormatNewest), 256<<10))
		o.FS, o.Cache, o.L0StopWritesThreshold = fs, blocks, 1000
		configured(t, o, p, pebblev2.WithL6(p))
		if !marked {
			o.BlockPropertyCollectors = nil
		}
		return o
	}
	c.DB = openLoaded(t, "db", c.options())
	return c
}

// reopen opens the database again, so that its memtables are empty.
func (c *counted) reopen(t testing.TB) {
	require.NoError(t, c.Close())
	c.DB = openLoaded(t, "db", c.options())
}

// count returns how many reads look makes.
func (c *counted) count(look func()) int64 {
	before := c.reads.Load()
	look()
	return c.reads.Load() - before
}

// MayContain of present keys reads filters and indexes, and no data where tables have the mark.
func TestReadsNoData(t *testing.T) {
	for _, marked := range []bool{true, false} {
		db := openCounted(t, marked, 64<<20)
		keys := enginetest.Keys(enginetest.Rand(t, 143), 20_000)
		put(t, db.DB, keys)
		compact(t, db.DB)
		require.NoError(t, db.Close())
		db = &counted{reads: db.reads, options: db.options}
		o := db.options()
		o.Cache = pebble.NewCache(64 << 20) // cold
		defer o.Cache.Unref()
		db.DB = openLoaded(t, "db", o)
		tables := 0
		levels, err := pebblev2.FiltersOnDisk(db.DB)
		require.NoError(t, err)
		for _, level := range levels {
			tables += level.ByName["ribbon"]
		}
		reads := db.count(func() {
			for _, key := range keys {
				may, err := pebblev2.MayContain(db, key)
				require.NoError(t, err)
				require.True(t, may)
			}
		})
		t.Logf("mark %t: %d reads of %d tables", marked, reads, tables)
		if marked {
			require.LessOrEqual(t, reads, int64(6*tables),
				"a filter and an index, and what opening takes")
		} else {
			require.Greater(t, reads, int64(200), "blocks of data")
		}
		require.NoError(t, db.Close())
	}
}

// A program replaces the database's Get by the adapter's everywhere. Whatever it looks up, no kind
// of key takes more reads than before, if filters and indexes are cached; absent and rewritten keys
// take next to none.
func TestNeverMoreReads(t *testing.T) {
	if pebblev2.RaceEnabled {
		t.Skip("one goroutine, and many lookups")
	}
	const each = 1500
	rng := enginetest.Rand(t, 144)
	all := make([][]byte, 20*each)
	for i := range all {
		all[i] = make([]byte, 16)
		rng.Read(all[i])
	}
	keys := func(kind int) [][]byte { return all[each*kind:][:each] }
	db := openCounted(t, true, 2<<20)
	write := func(kind int, do func(key []byte) error) {
		for _, key := range keys(kind) {
			require.NoError(t, do(key))
		}
	}
	// L6 has so much that the cache has room for its filters and indexes, and little of its data.
	setLong := func(key []byte) error {
		return db.Set(key, bytes.Repeat(value(key), 16), pebble.NoSync)
	}
	set := func(key []byte) error { return db.Set(key, value(key), pebble.NoSync) }
	merge := func(key []byte) error { return db.Merge(key, value(key), pebble.NoSync) }
	del := func(key []byte) error { return db.Delete(key, pebble.NoSync) }
	kinds := []string{
		"absent", "present in L6", "rewritten in L0", "rewritten in the memtable", "deleted in L0",
		"deleted in the memtable", "merged in L0", "merged in the memtable", "only in L0",
		"only in the memtable", "rewritten in two tables of L0", "deleted and rewritten",
	}
	for kind := 1; kind < 20; kind++ {
		if kind != 8 && kind != 9 {
			write(kind, setLong)
		}
	}
	require.NoError(t, db.Flush())
	compact(t, db.DB)
	for kind, do := range map[int]func([]byte) error{
		2: set, 4: del, 6: merge, 8: set, 10: set, 11: del,
	} {
		write(kind, do)
	}
	require.NoError(t, db.Flush())
	write(10, set)
	write(11, set)
	require.NoError(t, db.Flush())
	db.reopen(t)
	for kind, do := range map[int]func([]byte) error{3: set, 5: del, 7: merge, 9: set} {
		write(kind, do)
	}

	for kind, name := range kinds {
		count := func(get func(key []byte) answer) (reads int64) {
			for range 2 { // the first turn fills the cache with what it needs
				reads = db.count(func() {
					for _, key := range keys(kind) {
						get(key)
					}
				})
			}
			return reads
		}
		readsByGet := count(func(key []byte) answer { return answerOf(db.Get(key)) })
		reads := count(func(key []byte) answer { return answerOf(pebblev2.Get(db, key)) })
		t.Logf("%-30s reads per lookup: %.3f, Pebble's Get %.3f", name,
			float64(reads)/each, float64(readsByGet)/each)
		// Which blocks are still cached is partly chance.
		require.LessOrEqual(t, float64(reads), 1.02*float64(readsByGet)+0.02*each, name)
		if kind == 0 || kind == 2 || kind == 3 {
			require.Less(t, float64(reads), 0.05*each, name)
		}
	}
	// The absent keys have HasAll keep its iterator, in which tables are open already.
	batch := slices.Concat(keys(0), keys(2)[:each/10], keys(3)[:each/10])
	slices.SortFunc(batch, bytes.Compare)
	var reads int64
	for range 2 {
		reads = db.count(func() {
			_, err := pebblev2.HasAll(db, batch)
			require.NoError(t, err)
		})
	}
	t.Logf("HasAll: %d reads of %d keys", reads, len(batch))
	// Without the mark there is a read for nearly every rewritten key. Which blocks are still cached
	// is partly chance, more so on a busy machine.
	require.Less(t, reads, int64(len(batch)/10), "HasAll of absent and rewritten keys")
	for _, kind := range []int{0, 1, 2, 3} {
		for _, key := range keys(kind)[:100] {
			require.Equal(t, kind > 0, requireSameAnswer(t, db, key).found)
		}
	}
	require.NoError(t, db.Close())
}

// Many goroutines look keys up while others write and compact. Probes are not shared; with -race
// the test notices if one returns to the pool twice.
func TestConcurrent(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	o.MemTableSize = 64 << 10
	db := open(t, "db", configured(t, o, bloom(t, 10), pebblev2.WithL6(bloom(t, 10))))
	const n = 2000 // even keys are always there, odd ones never
	key := func(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }
	set := func(i int) error { return db.Set(key(i), value(key(i)), pebble.NoSync) }
	for i := 0; i < n; i += 2 {
		require.NoError(t, set(i))
	}
	write := func(rng *rand.Rand) error {
		if rng.Intn(100) == 0 {
			return compactAll(db)
		}
		return set(2 * rng.Intn(n/2))
	}
	lookUp := func(rng *rand.Rand) error {
		i := rng.Intn(n)
		got, err := pebbleReader{db}.Find(key(i))
		if err == nil && (i%2 == 0) != bytes.Equal(got, value(key(i))) {
			err = fmt.Errorf("key %d: %x", i, got)
		}
		return err
	}
	rounds := 3000
	if testing.Short() {
		rounds /= 10
	}
	var work sync.WaitGroup
	for seed, do := range []func(*rand.Rand) error{write, write, lookUp, lookUp, lookUp, lookUp} {
		work.Add(1)
		go func() {
			defer work.Done()
			rng := rand.New(rand.NewSource(int64(seed)))
			for i := 0; i < rounds && !t.Failed(); i++ {
				if err := do(rng); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	work.Wait()
	require.NoError(t, db.Close(), "no iterator is open")
}

// Readers that are closed or nil cause the same panic as their own Get.
func TestGetEdges(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS = vfs.NewMem()
	db := open(t, "db", configured(t, o, bloom(t, 10)))
	key := []byte("key")
	snapshot := db.NewSnapshot()
	require.NoError(t, snapshot.Close())
	require.NoError(t, db.Close())
	panicOf := func(look func()) (reason any) {
		defer func() { reason = recover() }()
		look()
		return nil
	}
	for name, r := range map[string]pebble.Reader{
		"closed": db, "closed snapshot": snapshot, "nil": nil, "nil DB": (*pebble.DB)(nil),
	} {
		want := panicOf(func() { _, _, _ = r.Get(key) })
		require.NotNil(t, want)
		for _, look := range []func(){
			func() { _, _, _ = pebblev2.Get(r, key) },
			func() { _, _ = pebblev2.Has(r, key) },
			func() { _, _ = pebblev2.MayContain(r, key) },
			func() { _, _ = pebblev2.HasAll(r, [][]byte{key}) },
		} {
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(panicOf(look)), name)
		}
	}
	for _, r := range []pebble.Reader{db, nil} {
		found, err := pebblev2.HasAll(r, nil)
		require.NoError(t, err)
		require.Empty(t, found, "no key, no reader")
	}
}
