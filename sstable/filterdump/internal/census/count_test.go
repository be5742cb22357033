package census

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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

// decimals returns n random keys of the numbers that make up a density, and the others.
func decimals(rng *rand.Rand, n int, density float64) (present, absent [][]byte) {
	var all [][]byte
	for _, number := range rng.Perm(int(float64(n) / density)) {
		all = append(all, fmt.Appendf(nil, "%016d", number))
	}
	return all[:n], all[n:]
}

// What is counted is what the engines then read: data blocks, with caches that have room for
// filters and indexes and for hardly any data. The databases are made by programs that do not use
// this module, but for the ribbon filters. They are the same in every run: engines compact nothing
// by themselves, and one goroutine reads.
func TestCountedReads(t *testing.T) {
	rng, n, ribbon := seeded(t), size(), opt.Options{}
	require.NoError(t, goleveldb.Configure(&ribbon, testkit.Must(policy.NewRibbon(10))))
	present, absent := decimals(rng, n, 0.63)
	sparse, between := decimals(rng, 8000, 0.33)
	for name, c := range map[string]struct {
		filter          filter.Filter
		present, absent [][]byte
		value           int // its length
	}{
		"decimals":       {filter.NewBloomFilter(10), present, absent, 100},
		"ribbon filters": {ribbon.Filter, present, absent, 100},
		// Where a block has one key, every other lookup goes on to the next block.
		"a key per block": {nil, sparse, between, 9000},
	} {
		t.Run(name, func(t *testing.T) {
			o, value := opt.Options{Filter: c.filter}, make([]byte, c.value)
			dir := fill(t, &o, c.present, func() []byte {
				random(rng, value)
				return value
			})

			v := counted(t, dir)
			if c.filter == nil { // some lookups tell what all of them read without filters
				require.InEpsilon(t, v.Get, v.Bare, 0.05)
			}
			if c.filter == ribbon.Filter {
				require.Zero(t, v.Old)
				errors := 3 * math.Sqrt(1000*v.Ribbon/float64(v.Lookups))
				require.InDelta(t, v.Ribbon, v.Get, 0.15*v.Ribbon+errors)
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
			requireReads(t, v.Get, v.Lookups, c.absent, &counting.reads, func(key []byte) {
				_, err := db.Get(key, nil)
				require.ErrorIs(t, err, leveldb.ErrNotFound)
			})
		})
	}
}

// fill makes a database of goleveldb, by itself, so that it is the same in every run, and returns
// its directory. It writes the keys to 8 tables of level 0, of which all but two are compacted to
// level 1.
func fill(t *testing.T, o *opt.Options, keys [][]byte, value func() []byte) string {
	dir := t.TempDir()
	o.WriteBuffer = 64 << 20 // so that a table is made of each log, when it is opened again
	o.CompactionL0Trigger, o.CompactionTotalSize = 1000, 1<<30
	const parts = 8
	for part := range parts + 1 {
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		if part == parts-2 {
			require.NoError(t, db.CompactRange(util.Range{}))
		}
		for _, key := range keys[part*len(keys)/parts : min(part+1, parts)*len(keys)/parts] {
			require.NoError(t, db.Put(key, value(), nil))
		}
		require.NoError(t, db.Close())
	}
	return dir
}

// In Pebble, with most keys in L6, by its own Get and by Has of the adapter.
func TestCountedReadsOfPebble(t *testing.T) {
	rng, n, dir, value := seeded(t), size(), t.TempDir(), make([]byte, 1000)
	present, absent := decimals(rng, n, 0.63)
	o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: engine.Quiet{},
		MemTableSize: 16 << 20, DisableAutomaticCompactions: true, L0StopWritesThreshold: 10_000}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	require.NoError(t, err)
	last := n * 9 / 10 // of those in L6
	for i, key := range present {
		random(rng, value)
		require.NoError(t, db.Set(key, value, pebble.NoSync))
		// The first memtables are small, and the database flushes one that is full when it likes.
		if i < 10 || i%4000 == 0 || i == last {
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
	requireReads(t, v.Has, v.Lookups, absent[half:], &reads, func(key []byte) {
		found, err := pebblev2.Has(db, key)
		require.NoError(t, err)
		require.False(t, found)
		churn()
	})
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
