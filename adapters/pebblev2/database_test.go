package pebblev2_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// fill creates a database in dir and closes it. A third of the keys lies in L0, the others in a
// level between and in L6. L6 gets more than the level between, which Pebble would otherwise skip.
// Each level's tables were written there: what is compacted overlaps, so no file is just moved.
func fill(t testing.TB, dir string, options func() *pebble.Options, keys [][]byte) {
	n := len(keys)
	db := open(t, dir, options())
	put(t, db, keys[:n*3/15])
	put(t, db, keys[n*3/15:n*7/15])
	compact(t, db)
	put(t, db, keys[n*7/15:n*8/15])
	put(t, db, keys[n*8/15:n*2/3])
	settled := func() bool { return len(tables(t, db)[0]) == 0 && len(between(t, db)) > 0 }
	require.Eventually(t, settled, time.Minute, time.Millisecond)
	require.NoError(t, db.Close())

	db = open(t, dir, resting(options()))
	put(t, db, keys[n*2/3:])
	levels := tables(t, db)
	require.NotEmpty(t, levels[0])
	require.NotEmpty(t, between(t, db))
	require.NotEmpty(t, levels[6])
	require.NoError(t, db.Close())
}

// resting returns o without automatic compactions, so that tables stay in their levels.
func resting(o *pebble.Options) *pebble.Options {
	o.DisableAutomaticCompactions = true
	return o
}

// between returns the names of the filters in L1 to L5.
func between(t testing.TB, db *pebble.DB) (names []string) {
	names = slices.Concat(tables(t, db)[1:6]...)
	slices.Sort(names)
	return slices.Compact(names)
}

// onEveryShape runs a test for every format and comparer.
func onEveryShape(t *testing.T, test func(t *testing.T, options func() *pebble.Options)) {
	for _, format := range formats {
		for _, comparer := range comparers {
			t.Run(fmt.Sprintf("%s/%s", format, comparer.Name), func(t *testing.T) {
				test(t, func() *pebble.Options {
					o := small(format)
					o.Comparer = comparer
					return o
				})
			})
		}
	}
}

// Each level of a database gets the filters that were configured for it.
func TestTablesPerLevel(t *testing.T) {
	keys := policytest.Keys(policytest.Rand(t, 3), 3000)
	for _, c := range []struct {
		name      string
		configure func(o *pebble.Options) error
		want      [3]string // in L0, between, and in L6
	}{
		{"Configure", func(o *pebble.Options) error {
			return pebblev2.Configure(o, bloom(t, 10))
		}, [3]string{policy.Name, policy.Name, ""}},
		{"WithL6", func(o *pebble.Options) error {
			l6 := bloom(t, 5, policy.WithName("l6"))
			return pebblev2.Configure(o, bloom(t, 10), pebblev2.WithL6(l6))
		}, [3]string{policy.Name, policy.Name, "l6"}},
		{"ConfigureLevels", func(o *pebble.Options) error {
			x, y := bloom(t, 16, policy.WithName("x")), bloom(t, 8, policy.WithName("y"))
			return pebblev2.ConfigureLevels(o, []policy.Policy{nil, x, x, x, x, x, y})
		}, [3]string{"", "x", "y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			options := func() *pebble.Options {
				o := small(pebble.FormatNewest)
				require.NoError(t, c.configure(o))
				return o
			}
			fill(t, dir, options, keys)
			db := open(t, dir, resting(options()))
			levels := tables(t, db)
			require.Equal(t, []string{c.want[0]}, levels[0])
			require.Contains(t, between(t, db), c.want[1])
			// Pebble may have moved a table of L0 without writing it anew.
			require.Subset(t, c.want[:2], between(t, db))
			require.Equal(t, []string{c.want[2]}, levels[6])
			require.Zero(t, lostByGet(t, db, keys))
			require.Zero(t, lostBySeek(t, db, keys))
			require.NoError(t, db.Close())
		})
	}
}
