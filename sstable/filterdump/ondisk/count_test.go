package ondisk

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

var large = flag.Bool("large", false, "count in databases of 1.5 million keys: .ci/nightly does")

// size is how many keys the databases have.
func size() int {
	if *large {
		return 1_500_000
	}
	return 40_000
}

// decimals returns n random ones of the numbers that make up a density, in random order, and those
// between them that are absent.
func decimals(rng *rand.Rand, n int, density float64) (present, absent [][]byte) {
	for i, number := range rng.Perm(int(float64(n) / density)) {
		key := fmt.Appendf(nil, "%016d", number)
		if i < n {
			present = append(present, key)
		} else {
			absent = append(absent, key)
		}
	}
	return present, absent
}

// uuids returns n random UUIDs, and as many absent ones.
func uuids(rng *rand.Rand, n int) (present, absent [][]byte) {
	return halves(n, func() string {
		a, b := rng.Uint64(), rng.Uint64()
		return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff,
			b>>50|0x8000, b&(1<<48-1))
	})
}

// urls returns n URLs of different lengths, and as many absent ones.
func urls(rng *rand.Rand, n int) (present, absent [][]byte) {
	words := strings.Fields("a in of key leaf news table bloom ribbon archive article database")
	word := func() string { return words[rng.IntN(len(words))] }
	return halves(n, func() string {
		return fmt.Sprintf("https://www.%s%s.org/%s/%d/%s-%s.html", word(), word(), word(),
			rng.IntN(10_000), word(), word())
	})
}

// halves returns n different keys that next makes, and as many others.
func halves(n int, next func() string) (present, absent [][]byte) {
	seen := map[string]bool{}
	for len(seen) < 2*n {
		key := next()
		if !seen[key] && len(seen)%2 == 0 {
			present = append(present, []byte(key))
		} else if !seen[key] {
			absent = append(absent, []byte(key))
		}
		seen[key] = true
	}
	return present, absent
}

// What is counted is what the engines then read: data blocks, with caches that have room for
// filters and indexes and for hardly any data. The databases are made by programs that do not use
// this module, but for the ribbon filters. They are the same in every run: engines compact nothing
// by themselves, and one goroutine reads.
func TestCountedReads(t *testing.T) {
	n := size()
	own := filter.NewBloomFilter(10)
	dense := func(rng *rand.Rand, n int) ([][]byte, [][]byte) { return decimals(rng, n, 0.63) }
	for name, c := range map[string]struct {
		n       int
		keys    func(rng *rand.Rand, n int) (present, absent [][]byte)
		options opt.Options
		ribbon  bool
		value   int // its length; 0 is 100
		parts   int // tables of level 0 that keys are first written to; 0 is 8
	}{
		"one table, 12 %": {n: min(n, 50_000), options: opt.Options{Filter: own}, parts: 1,
			keys: func(rng *rand.Rand, n int) ([][]byte, [][]byte) { return decimals(rng, n, 0.12) }},
		"decimals, 63 %":  {n: n, keys: dense, options: opt.Options{Filter: own}},
		"without filters": {n: n, keys: dense},
		"ribbon filters":  {n: n, keys: dense, ribbon: true},
		"UUIDs":           {n: n / 2, keys: uuids, options: opt.Options{Filter: own}},
		"URLs":            {n: n / 2, keys: urls, options: opt.Options{Filter: own}},
		// Where a block has one key, every other lookup goes on to the next block.
		"a key per block": {n: 8000, value: 9000,
			keys: func(rng *rand.Rand, n int) ([][]byte, [][]byte) { return decimals(rng, n, 0.33) }},
	} {
		t.Run(name, func(t *testing.T) {
			rng := seeded(t)
			present, absent := c.keys(rng, c.n)
			dir, o := t.TempDir(), c.options
			if c.ribbon {
				require.NoError(t, goleveldb.Configure(&o, policytest.Must(policy.NewRibbon(10))))
			}
			value := make([]byte, max(100, c.value))
			fill(t, dir, &o, cmp.Or(c.parts, 8), present, func() []byte {
				random(rng, value)
				return value
			})

			v := count(t, dir)
			if o.Filter == nil { // some lookups tell what all of them read without filters
				bare := v.Sum(func(l *verdict.Level) float64 { return l.Bare })
				require.InEpsilon(t, v.Sum(v.Get), bare, 0.05)
			}
			if c.ribbon { // what is computed for ribbon filters is what is counted with them
				computed := v.Sum(func(l *verdict.Level) float64 { return l.Ribbon })
				t.Logf("computed %.1f reads with ribbon filters", computed)
				require.InDelta(t, computed, v.Sum(v.Get),
					0.15*computed+3*math.Sqrt(1000*computed/float64(v.Lookups)))
			}
			o.ReadOnly = true // the tree stays as it is
			o.BlockCacheCapacity = 2*(int(v.IndexBytes)+filterBytes(v)) + 100*len(value)
			file, err := storage.OpenFile(dir, true)
			require.NoError(t, err)
			defer file.Close()
			counting := &countingStorage{Storage: file}
			db, err := leveldb.Open(counting, &o)
			require.NoError(t, err)
			defer db.Close()
			requireReads(t, v.Sum(v.Get), v.Lookups, absent, &counting.reads, func(key []byte) {
				_, err := db.Get(key, nil)
				require.ErrorIs(t, err, leveldb.ErrNotFound)
			})
		})
	}
}

// fill makes a database of goleveldb, by itself, so that it is the same in every run. It writes the
// keys to a number of tables of level 0, which are compacted to level 1 before the last two.
func fill(t *testing.T, dir string, o *opt.Options, parts int, keys [][]byte, value func() []byte) {
	o.WriteBuffer = 64 << 20 // so that a table is made of each log, when it is opened again
	o.CompactionL0Trigger, o.CompactionTotalSize = 1000, 1<<30
	perPart := (len(keys) + parts - 1) / parts
	for len(keys) > 0 {
		db, err := leveldb.OpenFile(dir, o)
		require.NoError(t, err)
		if len(keys) <= 2*perPart && parts > 2 {
			require.NoError(t, db.CompactRange(util.Range{}))
			parts = 2
		}
		part := keys[:min(perPart, len(keys))]
		keys = keys[len(part):]
		for _, key := range part {
			require.NoError(t, db.Put(key, value(), nil))
		}
		require.NoError(t, db.Close())
	}
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// In Pebble, with most keys in L6, by its own Get and by Has of the adapter.
func TestCountedReadsOfPebble(t *testing.T) {
	t.Run("90 % in L6", func(t *testing.T) { requireCountedPebble(t, size(), 0.63, 1000, 10) })
	t.Run("a key per block", func(t *testing.T) { requireCountedPebble(t, 8000, 0.33, 9000, 0) })
}

// requireCountedPebble makes a database of n keys, with filters if bits is not 0.
func requireCountedPebble(t *testing.T, n int, density float64, length, bits int) {
	rng := seeded(t)
	present, absent := decimals(rng, n, density)
	dir := t.TempDir()
	o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: quiet{},
		MemTableSize: 16 << 20, DisableAutomaticCompactions: true, L0StopWritesThreshold: 10_000}
	for i := range o.Levels {
		if bits > 0 {
			o.Levels[i].FilterPolicy = bloom.FilterPolicy(bits)
		}
	}
	db, err := pebble.Open(dir, o)
	require.NoError(t, err)
	last := n * 9 / 10 // of those in L6
	if bits == 0 {
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

	v := count(t, dir)
	require.Equal(t, "pebblev2", v.Engine)
	counting := &countingFS{FS: vfs.Default}
	// Room for filters and for indexes, which are larger than in the files. With more room, the
	// blocks of L0 stay: they are few, and the false positives of its small tables many.
	cache := pebble.NewCache(1<<20 + 3*(v.IndexBytes+int64(filterBytes(v)))/2)
	defer cache.Unref()
	db, err = pebble.Open(dir, &pebble.Options{FS: counting, ReadOnly: true, Cache: cache,
		Logger: quiet{}, MemTableSize: 64 << 10, FormatMajorVersion: pebble.FormatNewest,
		Levels: o.Levels, DisableTableStats: true})
	require.NoError(t, err)
	defer db.Close()
	// So that the cache is not full of what the same lookups read again and again.
	churn := func() {
		before := counting.reads.Load()
		for range 3 {
			_, closer, err := db.Get(present[rng.IntN(n)])
			require.NoError(t, err)
			require.NoError(t, closer.Close())
		}
		counting.reads.Store(before)
	}
	half := len(absent) / 2 // Has gets others, whose blocks Get has not read
	requireReads(t, v.Sum(v.Get), v.Lookups, absent[:half], &counting.reads, func(key []byte) {
		_, _, err := db.Get(key)
		require.ErrorIs(t, err, pebble.ErrNotFound)
		churn()
	})
	if bits == 0 {
		return
	}
	has := v.Sum(func(l *verdict.Level) float64 { return l.Read })
	requireReads(t, has, v.Lookups, absent[half:], &counting.reads, func(key []byte) {
		found, err := pebblev2.Has(db, key)
		require.NoError(t, err)
		require.False(t, found)
		churn()
	})
}

func count(t *testing.T, dir string) *verdict.Verdict {
	start := time.Now()
	v, err := Count(context.Background(), dir)
	require.NoError(t, err)
	require.Empty(t, v.Why)
	t.Logf("%v: %s", time.Since(start).Round(time.Millisecond), v.Sentence)
	return v
}

func filterBytes(v *verdict.Verdict) int {
	return int(v.Sum(func(l *verdict.Level) float64 { return float64(l.FilterBytes) }))
}

// requireReads looks up absent keys, and requires that the reads per 1,000 of them are within 15 %,
// and within three standard errors of both numbers, of those that were counted.
func requireReads(
	t *testing.T, want float64, lookups int, absent [][]byte, reads *atomic.Int64, look func([]byte),
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

// A countingStorage counts the reads of tables.
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
	if err != nil || fd.Type != storage.TypeTable {
		return r, err
	}
	return countingReader{r, &s.reads}, nil
}

func (r countingReader) ReadAt(p []byte, offset int64) (int, error) {
	r.reads.Add(1)
	return r.Reader.ReadAt(p, offset)
}

// A countingFS counts the reads of tables.
type countingFS struct {
	vfs.FS
	reads atomic.Int64
}

type countingFile struct {
	vfs.File
	reads *atomic.Int64
}

func (fs *countingFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := fs.FS.Open(name, opts...)
	if err != nil || !strings.HasSuffix(name, ".sst") {
		return f, err
	}
	return countingFile{f, &fs.reads}, nil
}

func (f countingFile) ReadAt(p []byte, offset int64) (int, error) {
	f.reads.Add(1)
	return f.File.ReadAt(p, offset)
}

// quiet is a logger.
type quiet struct{}

func (quiet) Infof(string, ...any)         {}
func (quiet) Errorf(string, ...any)        {}
func (quiet) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
