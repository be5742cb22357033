package pebblev1_test

import (
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
	"github.com/levelbloom/levelbloom/policy/policytest"
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

// shapes are options of many kinds, by name. Every call makes new ones.
func shapes(rng *rand.Rand) map[string]*pebble.Options {
	full := pebble.LevelOptions{
		BlockRestartInterval: 7,
		BlockSize:            1000,
		BlockSizeThreshold:   60,
		Compression:          pebble.ZstdCompression,
		FilterPolicy:         engine.FilterPolicy(10),
		IndexBlockSize:       5000,
		TargetFileSize:       12345,
	}
	all := map[string]*pebble.Options{
		"zero": {},
		"fields outside the levels": {
			MemTableSize: 1 << 20, FlushSplitBytes: 1 << 19, BytesPerSync: 1 << 18,
			L0CompactionThreshold: 7, Comparer: comparers[1], Logger: quiet{},
			EventListener: &pebble.EventListener{},
		},
		"with defaults": (&pebble.Options{FS: vfs.NewMem()}).EnsureDefaults(),
		"more entries than levels": {
			Levels: append(make([]pebble.LevelOptions, 7), full, full),
		},
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
					pebble.SnappyCompression, pebble.ZstdCompression,
				}[rng.Intn(4)]
				l.FilterPolicy = []pebble.FilterPolicy{nil, engine.FilterPolicy(10)}[rng.Intn(2)]
				l.IndexBlockSize = rng.Intn(2) * rng.Intn(1_000_000)
				l.TargetFileSize = int64(rng.Intn(2) * rng.Intn(10_000_000))
			}
			all[fmt.Sprintf("%d random, %d", n, try)] = &pebble.Options{Levels: levels}
		}
	}
	return all
}

// raw shows o, with the addresses of what it points to, but for the levels, the filters and the
// comparer.
func raw(o *pebble.Options) string {
	o = o.Clone()
	o.Filters, o.Levels, o.Comparer = nil, nil, nil
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

func TestConfigureChangesFiltersOnly(t *testing.T) {
	p, q := bloom(t, 10, policy.WithName("p")), bloom(t, 8, policy.WithName("q"))
	for name, configure := range map[string]func(o *pebble.Options) error{
		"Configure": func(o *pebble.Options) error { return pebblev1.Configure(o, p) },
		"WithL6": func(o *pebble.Options) error {
			return pebblev1.Configure(o, p, pebblev1.WithL6(p))
		},
		"ConfigureLevels": func(o *pebble.Options) error {
			return pebblev1.ConfigureLevels(o, []policy.Policy{q, nil, p})
		},
	} {
		want := map[string][7]string{
			"Configure":       {"p", "p", "p", "p", "p", "p", "none"},
			"WithL6":          {"p", "p", "p", "p", "p", "p", "p"},
			"ConfigureLevels": {"q", "none", "p", "none", "none", "none", "none"},
		}[name]
		for shape, o := range shapes(policytest.Rand(t, 70)) {
			t.Run(name+"/"+shape, func(t *testing.T) {
				rawBefore, effectiveBefore := raw(o), effective(o)
				given, comparer := slices.Clone(o.Levels), o.Comparer

				require.NoError(t, configure(o))
				if name != "WithL6" || comparer != nil && comparer.Split != nil {
					require.Same(t, comparer, o.Comparer)
				}
				require.Equal(t, rawBefore, raw(o))
				require.Equal(t, effectiveBefore, effective(o))
				require.Equal(t, want, filtersOf(o))

				// The entries that existed keep their zero fields, and those past the levels keep
				// all.
				for i, l := range given[:max(len(given)-1, 0)] {
					if i < 7 {
						l.FilterPolicy = o.Levels[i].FilterPolicy
					}
					require.Equal(t, l, o.Levels[i])
				}
			})
		}
	}
}

// Pebble refuses a slice of levels without entries; Configure takes it as Pebble takes nil.
func TestNoLevels(t *testing.T) {
	p := bloom(t, 10)
	for _, opts := range [][]pebblev1.Option{nil, {pebblev1.WithL6(p)}} {
		o := &pebble.Options{Levels: []pebble.LevelOptions{}}
		require.NoError(t, pebblev1.Configure(o, p, opts...))
		want, got := effective(&pebble.Options{}).levels, effective(o).levels
		require.Equal(t, want, got)
		for level := range 7 {
			require.EqualValues(t, 2<<20<<level, got[level].TargetFileSize,
				"2 MB in L0, doubled for each level below")
		}
	}
}

// Options may share their levels with others.
func TestSharedLevelsAreLeftAlone(t *testing.T) {
	p := bloom(t, 10)
	for _, opts := range [][]pebblev1.Option{nil, {pebblev1.WithL6(p)}} {
		for _, n := range []int{0, 1, 3, 7} {
			shared := make([]pebble.LevelOptions, 10)
			o := &pebble.Options{Levels: shared[:n]}
			require.NoError(t, pebblev1.Configure(o, p, opts...))
			require.Equal(t, make([]pebble.LevelOptions, 10), shared)
		}
	}
}

// WithL6, and ConfigureLevels with a policy for L6, give the comparer a Split if it has none.
func TestComparerGetsSplit(t *testing.T) {
	p := bloom(t, 10)
	none := *pebble.DefaultComparer
	none.Name = "levelbloom.test.none"
	for _, given := range []*pebble.Comparer{nil, pebble.DefaultComparer, &none, comparers[1]} {
		for name, configure := range map[string]func(o *pebble.Options) error{
			"WithL6": func(o *pebble.Options) error {
				return pebblev1.Configure(o, p, pebblev1.WithL6(p))
			},
			"ConfigureLevels": func(o *pebble.Options) error {
				return pebblev1.ConfigureLevels(o, []policy.Policy{6: p})
			},
		} {
			o := &pebble.Options{Comparer: given}
			require.NoError(t, configure(o), name)
			if given == comparers[1] {
				require.Same(t, given, o.Comparer, name)
				continue
			}
			require.Equal(t, 4, o.Comparer.Split([]byte("abcd")), name)
			want := given
			if want == nil {
				want = pebble.DefaultComparer
			}
			require.Nil(t, want.Split, "the given one is left alone")
			require.Equal(t, want.Name, o.Comparer.Name, name)
		}
	}
}

// A database goes from the default comparer to its copy with a Split and back. Tables and filters
// of both times stay in use, and Get answers the same.
func TestSplitAndBack(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir, all := t.TempDir(), policytest.Keys(policytest.Rand(t, 140), 4000)
			absent := all[3000:]
			p := policy.Count(bloom(t, 10))
			for i, split := range []bool{false, true, false, true} {
				o := resting(small(format))
				o.Comparer = pebble.DefaultComparer
				if i == 2 {
					o.Comparer = nil
				}
				o = configured(t, o, p, pebblev1.WithL6(p))
				if !split {
					o.Comparer = pebble.DefaultComparer
				}
				db := open(t, dir, o)
				if i < 3 {
					put(t, db, all[1000*i:][:1000])
				}
				if i == 0 {
					compact(t, db)
				}
				keys := all[:min(1000*(i+1), 3000)]
				require.Zero(t, lostByGet(t, db, keys))
				for _, key := range keys {
					require.True(t, requireSameAnswer(t, db, key).found)
				}
				before := p.Snapshot()
				for _, key := range absent {
					found, err := pebblev1.Has(db, key)
					require.NoError(t, err)
					require.False(t, found)
				}
				avoided := p.Snapshot().Sub(before).ReadsAvoided
				// One table in L6, which Reader.Get does not ask, and i in L0.
				asked := []int{0, 2, 2, 3}[i]
				require.GreaterOrEqual(t, avoided, uint64(asked*len(absent)*95/100))
				require.LessOrEqual(t, avoided, uint64(asked*len(absent)))
				require.NoError(t, db.Close())
			}
		})
	}
}

// Get recovers from one panic of Pebble's. Its message is not part of Pebble's interface.
func TestPanicWithoutSplit(t *testing.T) {
	o := small(pebble.FormatNewest)
	o.FS, o.Comparer = vfs.NewMem(), pebble.DefaultComparer
	db := open(t, "db", o)
	iter, err := db.NewIter(nil)
	require.NoError(t, err)
	require.PanicsWithValue(t, "pebble: split must be provided for SeekPrefixGE",
		func() { iter.SeekPrefixGE([]byte("key")) })
	require.NoError(t, iter.Close())
	require.NoError(t, db.Set([]byte("key"), nil, nil))
	require.True(t, requireSameAnswer(t, db, []byte("key")).found)
	require.False(t, requireSameAnswer(t, db, []byte("absent")).found)
	require.NoError(t, db.Close(), "no iterator is open")

	// Other panics pass.
	c := *comparers[0]
	c.Split = func(key []byte) int { panic("the comparer's own") }
	o.FS, o.Comparer = vfs.NewMem(), &c
	db = open(t, "db", o)
	for _, f := range []func(){
		func() { _, _, _ = pebblev1.Get(db, []byte("key")) },
		func() { _, _ = pebblev1.Has(db, []byte("key")) },
	} {
		require.PanicsWithValue(t, "the comparer's own", f)
	}
}
