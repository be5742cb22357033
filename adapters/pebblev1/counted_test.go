package pebblev1_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// What counted policies count is what Pebble counts, in checks and in tables, and by level under names of their own.
func TestCountedPerLevel(t *testing.T) {
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		dir := t.TempDir()
		rng := seeded(t, 90)
		all := randomKeys(rng, 4000)
		keys, absent := all[:3000], all[3000:]

		var counted []*policy.Counted
		var levels []policy.Policy
		for level := range 7 {
			c := policy.Count(bloom(t, float64(16-level), policy.WithName(fmt.Sprintf("L%d", level))))
			counted = append(counted, c)
			levels = append(levels, c)
		}
		var created atomic.Uint64
		configured := func() *pebble.Options {
			o := options()
			o.EventListener = &pebble.EventListener{TableCreated: func(pebble.TableCreateInfo) { created.Add(1) }}
			require.NoError(t, pebblev1.ConfigureLevels(o, levels))
			require.NoError(t, pebblev1.ConfigureLevels(o, levels), "the trials of a second time are not counted either")
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
		put(t, db, under('x', randomKeys(rng, 500)))
		now := counted[0].Snapshot()
		require.Equal(t, rest, sum(counted).Sub(now))
		require.Equal(t, disk(t, db, 0).Sub(inL0), policy.Counters{
			Filters: now.Filters - before.Filters, Keys: 500, Bytes: now.Bytes - before.Bytes,
		})
		require.NoError(t, db.Close())
	})
}

// sum adds up what has been counted.
func sum(counted []*policy.Counted) (s policy.Counters) {
	for _, c := range counted {
		n := c.Snapshot()
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

// requireCounts requires that the engine's own counters agree. It counts "absent" as a hit.
func requireCounts(t testing.TB, db *pebble.DB, c policy.Counters) {
	m := db.Metrics().Filter
	require.EqualValues(t, m.Hits, c.ReadsAvoided)
	require.EqualValues(t, m.Misses, c.MayContain)
	require.Positive(t, c.ReadsAvoided)
	require.Positive(t, c.MayContain)
}

// One counted policy for all levels counts what Pebble counts in sum, while tables come and go.
func TestCountedUnderOneName(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			keys := randomKeys(seeded(t, 91), 3000)
			c := policy.Count(bloom(t, 10))
			o := configured(t, small(format), c, pebblev1.WithL6())
			configured(t, o, c, pebblev1.WithL6())
			require.Zero(t, c.Snapshot())
			db := open(t, t.TempDir(), o)
			for i := range 6 {
				put(t, db, keys[i*500:(i+1)*500])
				require.Zero(t, lostByGet(t, db, keys[:(i+1)*500]))
				require.Zero(t, lostBySeek(t, db, keys[:(i+1)*500]))
			}
			require.Positive(t, c.Snapshot().Filters)
			// Statistics that Pebble collects in the background ask no filter, so the counts are at rest.
			require.Eventually(t, func() bool { return db.Metrics().Compact.NumInProgress == 0 }, time.Minute, time.Millisecond)
			requireCounts(t, db, c.Snapshot())
			require.NoError(t, db.Close())
		})
	}
}

// disguised embeds a Counted, and with it Unwrap, but has another encoding.
type disguised struct{ *policy.Counted }

func (d disguised) NewBuilder() policy.Builder { return salted{d.Counted}.NewBuilder() }
func (d disguised) MayContain(filter, key []byte) bool {
	return salted{d.Counted}.MayContain(filter, key)
}

func TestCountedIsCheckedLikeAnyPolicy(t *testing.T) {
	var none *policy.Counted
	require.ErrorContains(t, pebblev1.Configure(&pebble.Options{}, none), "the policy is nil")
	require.ErrorContains(t, pebblev1.ConfigureLevels(&pebble.Options{}, []policy.Policy{none}), "the policy is nil")
	require.Panics(t, func() { pebblev1.New(none) })

	p := bloom(t, 10)
	o := configured(t, &pebble.Options{}, p)
	other := policy.Count(policy.Count(salted{p}))
	require.ErrorContains(t, pebblev1.Configure(o, other), "policy.WithName")
	require.ErrorContains(t, pebblev1.Configure(o, disguised{policy.Count(p)}), "policy.WithName")
	require.Zero(t, other.Snapshot())
	require.NoError(t, pebblev1.Configure(o, policy.Count(policy.Count(p))))
}
