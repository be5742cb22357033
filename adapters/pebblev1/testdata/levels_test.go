package pebblev1_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
	engine "github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// oneLevel returns options whose Levels[0] a test can set.
func oneLevel() *pebble.Options { return &pebble.Options{Levels: make([]pebble.LevelOptions, 1)} }

// filtersOf returns the name of the policy that o has in effect for each level.
func filtersOf(o *pebble.Options) (names [7]string) {
	o = ensured(o)
	for level := range names {
		names[level] = "none"
		if f := o.Level(level).FilterPolicy; f != nil {
			names[level] = f.Name()
		}
	}
	return names
}

// shapesOfLevels adds options whose levels differ, by name.
func shapesOfLevels(all map[string]*pebble.Options, rng *rand.Rand) {
	full := pebble.LevelOptions{
		BlockRestartInterval: 7,
		BlockSize:            1000,
		BlockSizeThreshold:   60,
		Compression:          compression,
		FilterPolicy:         engine.FilterPolicy(10),
		IndexBlockSize:       5000,
		TargetFileSize:       12345,
	}
	all["more entries than levels"] = &pebble.Options{
		Levels: append(make([]pebble.LevelOptions, 7), full, full),
	}
	for n := 1; n <= 7; n++ {
		all[fmt.Sprintf("%d zero", n)] = &pebble.Options{Levels: make([]pebble.LevelOptions, n)}
		all[fmt.Sprintf("%d full", n)] = &pebble.Options{
			Levels: slices.Repeat([]pebble.LevelOptions{full}, n),
		}
		for try := range 4 {
			levels := make([]pebble.LevelOptions, n)
			for i := range levels {
				l := &levels[i]
				l.BlockRestartInterval = rng.Intn(2) * rng.Intn(100)
				l.BlockSize = rng.Intn(2) * rng.Intn(100_000)
				l.BlockSizeThreshold = rng.Intn(2) * rng.Intn(100)
				l.Compression = []pebble.Compression{
					pebble.DefaultCompression, pebble.NoCompression,
					pebble.SnappyCompression, compression,
				}[rng.Intn(4)]
				l.FilterPolicy = []pebble.FilterPolicy{nil, engine.FilterPolicy(10)}[rng.Intn(2)]
				l.IndexBlockSize = rng.Intn(2) * rng.Intn(1_000_000)
				l.TargetFileSize = int64(rng.Intn(2) * rng.Intn(10_000_000))
			}
			all[fmt.Sprintf("%d random, %d", n, try)] = &pebble.Options{Levels: levels}
		}
	}
}

// raw shows o, with the addresses of what it points to, but for the levels, the filters and the
// comparer.
func raw(o *pebble.Options) string {
	o = o.Clone()
	o.Filters, o.Levels, o.Comparer = nil, nil, nil
	o.BlockPropertyCollectors = nil // see TestMark
	return fmt.Sprintf("%#v", *o)
}

// effectiveOptions is every level, and the options outside the levels as they are stored.
type effectiveOptions struct {
	levels [7]pebble.LevelOptions
	others string
}

// effective returns what Pebble makes of o, but for the filters.
func effective(o *pebble.Options) (e effectiveOptions) {
	o = ensured(o)
	for level := range e.levels {
		e.levels[level] = o.Level(level)
		e.levels[level].FilterPolicy = nil
	}
	e.others, _, _ = strings.Cut(o.String(), "[Level")
	return e
}

// requireLevelsKept requires that the entries of levels that were given are left alone, and that
// those configured keep their zero fields. A comparer that has a Split is kept.
func requireLevelsKept(t testing.TB, given, configured *pebble.Options) {
	require.Len(t, configured.Levels, max(len(given.Levels), 7))
	for i, l := range given.Levels[:min(max(len(given.Levels)-1, 0), 7)] {
		l.FilterPolicy = configured.Levels[i].FilterPolicy
		require.Equal(t, l, configured.Levels[i])
	}
	if given.Comparer != nil && given.Comparer.Split != nil {
		require.Same(t, given.Comparer, configured.Comparer)
	}
}

// Pebble refuses a slice of levels without entries; Configure takes it as Pebble takes nil. Options
// may share the memory of their levels with others.
func TestFewLevels(t *testing.T) {
	for _, opts := range [][]pebblev1.Option{nil, {pebblev1.WithLevel(6, noFilters)}} {
		for _, n := range []int{0, 1, 3, 7} {
			shared := make([]pebble.LevelOptions, 10)
			o := configured(t, &pebble.Options{Levels: shared[:n]}, bloom(t, 10), opts...)
			require.Equal(t, make([]pebble.LevelOptions, 10), shared)
			for level, l := range effective(o).levels {
				if n == 0 {
					require.EqualValues(t, 2<<20<<level, l.TargetFileSize,
						"2 MB in L0, doubled for each level below")
				}
			}
		}
	}
}

// A comparer without a Split gets one, and is left alone itself. The copy does all else as it does.
func TestComparerGetsSplit(t *testing.T) {
	none := *pebble.DefaultComparer
	none.Name = "levelbloom.test.none"
	for given, want := range map[*pebble.Comparer]*pebble.Comparer{
		nil: pebble.DefaultComparer, pebble.DefaultComparer: pebble.DefaultComparer, &none: &none,
	} {
		for _, opts := range [][]pebblev1.Option{nil, {pebblev1.WithLevel(6, noFilters)}} {
			o := configured(t, &pebble.Options{Comparer: given}, bloom(t, 10), opts...)
			require.Equal(t, 4, o.Comparer.Split([]byte("abcd")))
			require.Nil(t, want.Split)
			others := *o.Comparer
			others.Split = nil
			require.Equal(t, fmt.Sprintf("%#v", *want), fmt.Sprintf("%#v", others)) // addresses too
		}
	}
}

// A database goes from the default comparer to its copy with a Split and back. Tables and filters
// of both times stay in use, and Reader.Get answers the same.
func TestSplitAndBack(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			fs, all := vfs.NewMem(), testkit.Keys(testkit.Rand(t, 140), 4000)
			absent := all[3000:]
			p := bloom(t, 10, policy.WithCounters())
			for i, split := range []bool{false, true, false, true} {
				o := resting(small(format))
				o.FS, o.Comparer = fs, []*pebble.Comparer{pebble.DefaultComparer, nil}[i/2]
				configured(t, o, p)
				if !split {
					o.Comparer = pebble.DefaultComparer
				}
				db := open(t, "db", o)
				if i < 3 {
					put(t, db, all[1000*i:][:1000])
				}
				if i == 0 {
					compact(t, db)
				}
				look := pebbleReader{db}.Find
				if !split {
					look = pebbleReader{db}.Get
				}
				for _, key := range all[:min(1000*(i+1), 3000)] {
					found, err := look(key)
					require.NoError(t, err)
					require.NotNil(t, found)
				}
				requireSound(t, db)
				before := p.Counters().Absent
				for _, key := range absent {
					found, err := look(key)
					require.NoError(t, err)
					require.Nil(t, found)
				}
				// One table is in L6, which Reader.Get does not ask, and i in L0. Find looks five times.
				checked := []int{0, 5 * 2, 2, 5 * 3}[i] * len(absent)
				require.GreaterOrEqual(t, p.Counters().Absent-before, uint64(checked*95/100))
				require.NoError(t, db.Close())
			}
		})
	}
}

// Without a Split, no filter can be asked: the lookups are the engine's.
func TestWithoutSplit(t *testing.T) {
	o := &pebble.Options{FS: vfs.NewMem(), Logger: quiet{}, FormatMajorVersion: pebble.FormatNewest}
	db := open(t, "db", o)
	present, absent := []byte("present"), []byte("absent")
	put(t, db, [][]byte{present, []byte("q")})
	for name, look := range lookUps {
		found, err := look(db, present)
		require.NoError(t, err)
		require.True(t, found, name)
		found, err = look(db, absent)
		require.NoError(t, err)
		require.Equal(t, name == "MayContain", found, name)
	}
	several, err := pebblev1.HasMany(db, [][]byte{absent, present, absent, present})
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, false, true}, several)
	require.ErrorContains(t, pebblev1.Rewrite(context.Background(), configured(t, o, ribbon(t, 10)),
		db, nil), "was Configure called before pebble.Open?")
	require.NoError(t, db.Close()) // no iterator is left
}

// A table of range keys alone has no keys for a TablePropertyCollector. One that refuses such
// tables makes Rewrite refuse.
func TestRewriteAsksTableCollectors(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.TablePropertyCollectors = []func() pebble.TablePropertyCollector{
		func() pebble.TablePropertyCollector { return new(keyCounter) }}
	db := open(t, "db", o)
	put(t, db, [][]byte{[]byte("a"), []byte("c")})
	require.NoError(t, db.Close())
	db = open(t, "db", configured(t, o, ribbon(t, 10)))
	require.ErrorContains(t, pebblev1.Rewrite(context.Background(), o, db, nil),
		"the options refuse to remove range keys (no keys)")
	require.NoError(t, db.Close())
	require.NoError(t, open(t, "db", o).Close())
}

type keyCounter int

func (*keyCounter) Name() string { return "keys" }

func (n *keyCounter) Add(pebble.InternalKey, []byte) error {
	*n++
	return nil
}

func (n *keyCounter) Finish(map[string]string) error {
	if *n == 0 {
		return errors.New("no keys")
	}
	return nil
}

// Pebble v1 takes a range key's suffix that is equal to none for none, so Rewrite does too.
func TestRewriteKeepsEmptySuffixes(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.Comparer = getComparers[1]
	db := open(t, "db", o)
	put(t, db, [][]byte{[]byte("a"), []byte("c")})
	require.NoError(t, db.Close())
	db = open(t, "db", configured(t, o, ribbon(t, 10)))
	require.NoError(t, db.RangeKeySet([]byte("a"), []byte("b"), []byte("@0"), []byte("value"), nil))
	before := rangesAndKeys(t, db)
	require.ErrorContains(t, pebblev1.Rewrite(context.Background(), o, db, nil), "without suffix")
	require.Equal(t, before, rangesAndKeys(t, db))
	require.NoError(t, db.Close())
}

// shareFiles gives o a file cache, until done is called.
func shareFiles(o *pebble.Options) (done func()) {
	o.TableCache = pebble.NewTableCache(o.Cache, 1, 100)
	return func() { _ = o.TableCache.Unref() }
}
