package census

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/engine"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// size is how many keys the databases have.
func size() int {
	if testkit.IsLarge() {
		return 1_500_000
	}
	return 40_000
}

// A generator returns n random keys, and absent ones between them.
type generator func(rng *rand.Rand, n int) (present, absent [][]byte)

// decimals takes keys from the numbers that make up a density.
func decimals(density float64) generator {
	return func(rng *rand.Rand, n int) (present, absent [][]byte) {
		var all [][]byte
		for _, number := range rng.Perm(int(float64(n) / density)) {
			all = append(all, fmt.Appendf(nil, "%016d", number))
		}
		return all[:n], all[n:]
	}
}

// halves takes every other key that next makes.
func halves(next func(rng *rand.Rand) string) generator {
	return func(rng *rand.Rand, n int) (present, absent [][]byte) {
		seen := map[string]bool{}
		for len(seen) < 2*n {
			key := next(rng)
			if !seen[key] && len(seen)%2 == 0 {
				present = append(present, []byte(key))
			} else if !seen[key] {
				absent = append(absent, []byte(key))
			}
			seen[key] = true
		}
		return present, absent
	}
}

func uuid(rng *rand.Rand) string {
	s := fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64())
	return strings.Join([]string{s[:8], s[8:12], "4" + s[13:16], "8" + s[17:20], s[20:]}, "-")
}

// url returns a URL. They have different lengths.
func url(rng *rand.Rand) string {
	words := strings.Fields("a in of key leaf news table bloom ribbon archive article database")
	word := func() string { return words[rng.IntN(len(words))] }
	return fmt.Sprintf("https://www.%s.org/%s/%d/%s", word(), word(), rng.IntN(100_000), word())
}

// What is counted is what the engines then read: data blocks, with caches that have room for
// filters and indexes and for hardly any data. The databases are made by programs that do not use
// this module, but for the ribbon filters. They are the same in every run: engines compact nothing
// by themselves, and one goroutine reads.
func TestCountedReads(t *testing.T) {
	n := size()
	own := filter.NewBloomFilter(10)
	for name, c := range map[string]struct {
		n      int
		keys   generator
		filter filter.Filter
		ribbon bool
		value  int // its length; 0 is 100
		parts  int // tables of level 0 that keys are first written to; 0 is 8
	}{
		"one table, 12 %": {n: min(n, 50_000), keys: decimals(0.12), filter: own, parts: 1},
		"decimals, 63 %":  {n: n, keys: decimals(0.63), filter: own},
		"without filters": {n: n, keys: decimals(0.63)},
		"ribbon filters":  {n: n, keys: decimals(0.63), ribbon: true},
		"UUIDs":           {n: n / 2, keys: halves(uuid), filter: own},
		"URLs":            {n: n / 2, keys: halves(url), filter: own},
		// Where a block has one key, every other lookup goes on to the next block.
		"a key per block": {n: 8000, keys: decimals(0.33), value: 9000},
	} {
		t.Run(name, func(t *testing.T) {
			rng := seeded(t)
			present, absent := c.keys(rng, c.n)
			o := opt.Options{Filter: c.filter}
			if c.ribbon {
				require.NoError(t, goleveldb.Configure(&o, testkit.Must(policy.NewRibbon(10))))
			}
			value := make([]byte, max(100, c.value))
			dir := fill(t, &o, cmp.Or(c.parts, 8), present, func() []byte {
				random(rng, value)
				return value
			})

			v := counted(t, dir)
			if o.Filter == nil { // some lookups tell what all of them read without filters
				require.InEpsilon(t, v.Get, v.Bare, 0.05)
			}
			if c.ribbon {
				require.Zero(t, v.Old)
				requireComputed(t, v.Ribbon, v.Get, v.Lookups)
			}
			o.ReadOnly = true // the tree stays as it is
			o.BlockCacheCapacity = 2*overhead(v) + 100*len(value)
			file, err := storage.OpenFile(dir, true)
			require.NoError(t, err)
			defer file.Close()
			counting := &countingStorage{Storage: file}
			db, err := leveldb.Open(counting, &o)
			require.NoError(t, err)
			defer db.Close()
			requireReads(t, v.Get, v.Lookups, absent, &counting.reads, func(key []byte) {
				_, err := db.Get(key, nil)
				require.ErrorIs(t, err, leveldb.ErrNotFound)
			})
		})
	}
}

// fill makes a database of goleveldb, by itself, so that it is the same in every run, and returns
// its directory. It writes the keys to a number of tables of level 0, which are compacted to level
// 1 before the last two.
func fill(t *testing.T, o *opt.Options, parts int, keys [][]byte, value func() []byte) string {
	dir := t.TempDir()
	o.WriteBuffer = 64 << 20 // so that a table is made of each log, when it is opened again
	o.CompactionL0Trigger, o.CompactionTotalSize = 1000, 1<<30
	perPart := (len(keys) + parts - 1) / parts
	for part := range slices.Chunk(keys, perPart) {
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		if parts--; parts == 1 {
			require.NoError(t, db.CompactRange(util.Range{}))
		}
		for _, key := range part {
			require.NoError(t, db.Put(key, value(), nil))
		}
		require.NoError(t, db.Close())
	}
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return dir
}

// In Pebble, with most keys in L6, by its own Get and by Has of the adapter.
func TestCountedReadsOfPebble(t *testing.T) {
	own, ribbon := bloom.FilterPolicy(10), pebblev2.New(testkit.Must(policy.NewRibbon(10)))
	t.Run("90 % in L6", func(t *testing.T) { requireCountedPebble(t, size(), 0.63, 1000, own) })
	t.Run("ribbon", func(t *testing.T) { requireCountedPebble(t, size(), 0.63, 1000, ribbon) })
	t.Run("a key per block", func(t *testing.T) { requireCountedPebble(t, 8000, 0.33, 9000, nil) })
}

// requireCountedPebble makes a database of n keys with filters, or without if p is nil.
func requireCountedPebble(
	t *testing.T, n int, density float64, length int, p pebble.FilterPolicy,
) {
	rng := seeded(t)
	present, absent := decimals(density)(rng, n)
	dir := t.TempDir()
	o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: engine.Quiet{},
		MemTableSize: 16 << 20, DisableAutomaticCompactions: true, L0StopWritesThreshold: 10_000}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = p
	}
	db, err := pebble.Open(dir, o)
	require.NoError(t, err)
	last := n * 9 / 10 // of those in L6
	if p == nil {
		last = n - 1 // else the few tables above would stay in the cache
	}
	value := make([]byte, length)
	for i, key := range present {
		random(rng, value)
		require.NoError(t, db.Set(key, value, pebble.NoSync))
		// The first memtables are small, and the database flushes one that is full when it likes.
		if perFlush := (4 << 20) / length; i < 10 || i%perFlush == 0 || i == last {
			require.NoError(t, db.Flush())
		}
		if i == last {
			require.NoError(t, db.Compact(context.Background(), []byte("0"), []byte("9"), false))
		}
	}
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())

	v := counted(t, dir)
	require.Equal(t, "pebblev2", v.Engine)
	var reads atomic.Int64
	counting := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst") {
			reads.Add(1)
		}
		return nil
	})
	// Room for filters and for indexes, which are larger than in the files. With more room, the
	// blocks of L0 stay: they are few, and the false positives of its small tables many.
	cache := pebble.NewCache(1<<20 + 3*int64(overhead(v))/2)
	defer cache.Unref()
	db, err = pebble.Open(dir, &pebble.Options{FS: errorfs.Wrap(vfs.Default, counting),
		ReadOnly: true, Cache: cache, Logger: engine.Quiet{}, MemTableSize: 64 << 10,
		FormatMajorVersion: pebble.FormatNewest, Levels: o.Levels, DisableTableStats: true})
	require.NoError(t, err)
	defer db.Close()
	// So that the cache is not full of what the same lookups read again and again.
	churn := func() {
		before := reads.Load()
		for range 3 {
			_, closer, err := db.Get(present[rng.IntN(n)])
			require.NoError(t, err)
			require.NoError(t, closer.Close())
		}
		reads.Store(before)
	}
	half := len(absent) / 2 // Has gets others, whose blocks Get has not read
	requireReads(t, v.Get, v.Lookups, absent[:half], &reads, func(key []byte) {
		_, _, err := db.Get(key)
		require.ErrorIs(t, err, pebble.ErrNotFound)
		churn()
	})
	if p == nil {
		return
	}
	if p.Name() == policy.Name {
		requireComputed(t, v.Ribbon, v.Has, v.Lookups)
	}
	requireReads(t, v.Has, v.Lookups, absent[half:], &reads, func(key []byte) {
		found, err := pebblev2.Has(db, key)
		require.NoError(t, err)
		require.False(t, found)
		churn()
	})
}

// requireComputed requires that what is computed for ribbon filters is what is counted with them.
func requireComputed(t *testing.T, computed, counted float64, lookups int) {
	t.Logf("computed %.2f reads with ribbon filters, counted %.2f", computed, counted)
	errors := 3 * math.Sqrt(1000*computed/float64(lookups))
	require.InDelta(t, computed, counted, 0.15*computed+errors)
}

// counted returns what is counted in a database.
func counted(t *testing.T, dir string) *Database {
	d := Read(dir, Options{Progress: t.Logf})
	require.Empty(t, d.Note)
	for _, r := range d.Tables {
		require.Empty(t, r.Reason)
	}
	t.Log(d.Verdict.Sentence)
	return d
}

// overhead is how large the filters and indexes of all tables are.
func overhead(d *Database) int {
	sum := int(d.Total.FilterBytes)
	for _, t := range d.Tables {
		sum += int(t.IndexBytes)
	}
	return sum
}

// requireReads looks up absent keys, and requires that the reads per 1,000 of them are within 15 %,
// and within three standard errors of both numbers, of those that were counted.
func requireReads(
	t *testing.T, want float64, lookups int, absent [][]byte, reads *atomic.Int64,
	look func([]byte),
) {
	const warm = 2500 // until filters and indexes are cached
	absent = absent[:min(len(absent), 2*size()/5)]
	require.Greater(t, len(absent), 3*warm)
	for _, key := range absent[:warm] {
		look(key)
	}
	before := reads.Load()
	for _, key := range absent[warm:] {
		look(key)
	}
	n := float64(len(absent) - warm)
	got := 1000 * float64(reads.Load()-before) / n
	errors := 3 * math.Sqrt(1000*want*(1/n+1/float64(lookups)))
	t.Logf("counted %.1f reads per 1,000 lookups, the engine made %.1f", want, got)
	require.InDelta(t, want, got, 0.15*got+errors)
}

func seeded(t *testing.T) *rand.Rand {
	t.Log("seed 1")
	return rand.New(rand.NewPCG(1, 0))
}

// random fills half of a value with random bytes.
func random(rng *rand.Rand, value []byte) {
	for i := range len(value) / 2 {
		value[i] = byte(rng.Uint32())
	}
}

// A countingStorage counts the reads of tables: of other files, goleveldb calls no ReadAt.
type countingStorage struct {
	storage.Storage
	reads atomic.Int64
}

type countingReader struct {
	storage.Reader
	reads *atomic.Int64
}

func (s *countingStorage) Open(fd storage.FileDesc) (storage.Reader, error) {
	r, err := s.Storage.Open(fd)
	return countingReader{r, &s.reads}, err
}

func (r countingReader) ReadAt(p []byte, offset int64) (int, error) {
	r.reads.Add(1)
	return r.Reader.ReadAt(p, offset)
}
