package pebblev2_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// fill creates a database in dir and closes it. It has one table in L0, with a third of the keys,
// one in a level between, and one in L6. Pebble has no choice in that: it compacts only what it is
// told to, two overlapping tables at a time, so it cannot just move one.
func fill(t testing.TB, dir string, options func() *pebble.Options, keys [][]byte) {
	n := len(keys)
	keys = slices.Clone(keys)
	least := slices.MinFunc(keys, bytes.Compare)
	i := slices.IndexFunc(keys, func(key []byte) bool { return bytes.Equal(key, least) })
	keys[i], keys[n/2] = keys[n/2], least
	db := open(t, dir, flat(resting(options()), 1<<20))
	put(t, db, keys[:n*3/15])
	put(t, db, keys[n*3/15:n*7/15])
	compact(t, db)
	put(t, db, keys[n*7/15:n*8/15])
	put(t, db, keys[n*8/15:n*2/3])
	// L6 has nothing in this range. So the tables of L0 sink to the level where Pebble wants them,
	// which is above L6 because that is larger than LBaseMaxBytes.
	require.NoError(t, compactRange(db, nil, least))
	put(t, db, keys[n*2/3:])
	l0, between, l6 := filterNames(t, db)
	require.NotEmpty(t, l0)
	require.NotEmpty(t, between)
	require.NotEmpty(t, l6)
	require.NoError(t, db.Close())
}

// A filterCount is what the tables of a level have.
type filterCount struct {
	byName map[string]int // tables with a filter, by the name of its policy
	none   int            // tables without
	marked int            // tables with the mark of Configure
	hidden int            // virtual tables, whose properties Pebble v2 does not report
}

// onDisk counts the filters of each level.
func onDisk(t testing.TB, db *pebble.DB) (levels [7]filterCount) {
	tables, err := db.SSTables(pebble.WithProperties())
	require.NoError(t, err)
	for level, tables := range tables {
		l := &levels[level]
		l.byName = map[string]int{}
		for _, table := range tables {
			p := table.Properties
			if p.IndexSize == 0 {
				l.hidden++
				continue
			}
			if p.FilterPolicyName == "" {
				l.none++
			} else {
				l.byName[p.FilterPolicyName]++
			}
			if _, marked := p.UserProperties["levelbloom.probe"]; marked {
				l.marked++
			}
		}
	}
	return levels
}

// filterNames returns the names of the filters in L0, in the levels between, and in L6. All tables
// have some.
func filterNames(t testing.TB, db *pebble.DB) (l0, between, l6 []string) {
	levels := onDisk(t, db)
	names := func(levels []filterCount) []string {
		all := map[string]int{}
		for _, l := range levels {
			require.Zero(t, l.none)
			maps.Copy(all, l.byName)
		}
		return slices.Sorted(maps.Keys(all))
	}
	return names(levels[:1]), names(levels[1:6]), names(levels[6:])
}

// onEveryShape runs a test for every format and comparer.
func onEveryShape(t *testing.T, test func(t *testing.T, options func() *pebble.Options)) {
	for _, format := range formats {
		for _, comparer := range comparers {
			t.Run(fmt.Sprintf("%s/%s", format, comparer.Name), func(t *testing.T) {
				fs := vfs.NewMem()
				test(t, func() *pebble.Options {
					o := small(format)
					o.FS, o.Comparer = fs, comparer
					return o
				})
			})
		}
	}
}

// The tables of each level get the filters that were configured for it: of different kinds, under
// names of their own or under one. All are consulted, and each policy counts what Pebble does in
// its level.
func TestLevels(t *testing.T) {
	rng := testkit.Rand(t, 3)
	all := testkit.Keys(rng, 4000)
	keys, absent := all[:3000], all[3000:]
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		var levels []*policy.Policy
		for level := range 7 {
			kind := enginetest.Kinds[level%len(enginetest.Kinds)]
			levels = append(levels, kind.MustNew(float64(16-level), fmt.Sprintf("L%d", level)))
		}
		var created atomic.Uint64
		configured := func() *pebble.Options {
			o := options()
			o.EventListener = &pebble.EventListener{
				TableCreated: func(pebble.TableCreateInfo) { created.Add(1) },
			}
			require.NoError(t, configureLevels(levels...)(o))
			return o
		}
		fill(t, "db", configured, keys)
		built := sum(levels)
		require.Equal(t, created.Load(), built.Filters, "one filter in each table that was written")
		require.Zero(t, enginetest.Checks(built))

		db := open(t, "db", resting(configured()))
		l0, between, l6 := filterNames(t, db)
		require.Equal(t, []string{"L0"}, l0)
		require.Equal(t, []string{"L5"}, between)
		require.Equal(t, []string{"L6"}, l6)
		requireLookups(t, db, keys, absent)
		checked := sum(levels)
		// Pebble counts "absent" as a hit.
		require.EqualValues(t, db.Metrics().Filter.Hits, checked.Absent)
		require.EqualValues(t, db.Metrics().Filter.Misses, checked.MayContain)
		require.Greater(t, checked.Absent, uint64(3*2*len(absent)*95/100), "in three levels")
		for _, level := range []int{0, 6} {
			c := levels[level].Counters()
			require.Greater(t, c.Absent, uint64(2*len(absent)*95/100), "L%d", level)
			require.GreaterOrEqual(t, c.MayContain, uint64(len(keys)/3), "L%d", level)
		}
		require.NoError(t, db.Close())
	})
}

// sum adds up the counters of all levels.
func sum(levels []*policy.Policy) (s policy.Counters) {
	for _, c := range levels {
		n := c.Counters()
		s.Absent += n.Absent
		s.MayContain += n.MayContain
		s.Filters += n.Filters
	}
	return s
}
