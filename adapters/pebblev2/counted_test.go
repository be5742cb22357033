package pebblev2_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// What counted policies count is what Pebble counts, in checks and in tables, and by level under
// names of their own.
func TestCountedPerLevel(t *testing.T) {
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		dir := t.TempDir()
		rng := policytest.Rand(t, 90)
		all := policytest.Keys(rng, 4000)
		keys, absent := all[:3000], all[3000:]

		var counted []*policy.Counted
		var levels []policy.Policy
		for level := range 7 {
			c := policy.Count(
				bloom(t, float64(16-level), policy.WithName(fmt.Sprintf("L%d", level))),
			)
			counted = append(counted, c)
			levels = append(levels, c)
		}
		var created atomic.Uint64
		configured := func() *pebble.Options {
			o := options()
			o.EventListener = &pebble.EventListener{
				TableCreated: func(pebble.TableCreateInfo) { created.Add(1) },
			}
			require.NoError(t, pebblev2.ConfigureLevels(o, levels))
			require.NoError(
				t,
				pebblev2.ConfigureLevels(o, levels),
				"the trials of a second time are not counted either",
			)
			return o
		}
		configured()
		require.Zero(t, sum(counted))

		fill(t, dir, configured, keys)
		built := sum(counted)
		require.Equal(t, created.Load(), built.Filters, "one filter in each table that was written")
		require.Zero(t, built.Checks())
		for _, level := range []int{0, 6} {
			require.Positive(t, counted[level].Snapshot().Filters)
		}

		db := open(t, dir, resting(configured()))
		require.Zero(t, lostByGet(t, db, keys))
		require.Zero(t, lostBySeek(t, db, keys))
		require.Equal(t, len(absent), lostByGet(t, db, absent))
		require.Equal(t, len(absent), lostBySeek(t, db, absent))
		asked := sum(counted).Sub(built)
		requireCounts(t, db, asked)
		require.Zero(t, asked.Filters)
		for _, level := range []int{0, 6} {
			c := counted[level].Snapshot()
			require.Positive(t, c.ReadsAvoided, "L%d", level)
			require.GreaterOrEqual(t, c.MayContain, uint64(len(keys)/3), "L%d", level)
		}

		// A flush builds in L0 alone, and what it builds is what lies there.
		before := counted[0].Snapshot()
		rest := sum(counted).Sub(before)
		inL0 := disk(t, db, 0)
		put(t, db, under('x', policytest.Keys(rng, 500)))
		now := counted[0].Snapshot()
		require.Equal(t, rest, sum(counted).Sub(now))
		require.Equal(t, disk(t, db, 0).Sub(inL0), policy.Counters{
			Filters: now.Filters - before.Filters, Keys: 500, Bytes: now.Bytes - before.Bytes,
		})
		require.NoError(t, db.Close())
	})
}

// sum adds up what has been counted.
func sum[P policy.Policy](counted []P) (s policy.Counters) {
	for _, c := range counted {
		n := policy.Policy(c).(*policy.Counted).Snapshot()
		s.ReadsAvoided += n.ReadsAvoided
		s.MayContain += n.MayContain
		s.Filters += n.Filters
		s.Keys += n.Keys
		s.Bytes += n.Bytes
	}
	return s
}

// disk returns what the tables of a level tell of their filters, and the number of their keys.
func disk(t testing.TB, db *pebble.DB, level int) (c policy.Counters) {
	levels, err := db.SSTables(pebble.WithProperties())
	require.NoError(t, err)
	for _, table := range levels[level] {
		c.Filters++
		c.Keys += table.Properties.NumEntries
		c.Bytes += table.Properties.FilterSize
	}
	return c
}
