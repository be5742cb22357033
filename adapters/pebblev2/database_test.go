package pebblev2_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
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
