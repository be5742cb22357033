package pebblev2_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// A database that is open keeps the filters that it was opened with: Configure on its options, which it has cloned but
// whose maps and slices it shares, touches none of these. The race detector watches.
func TestConfigureOfOptionsInUse(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			keys := randomKeys(seeded(t, 100), 3000)
			before := policy.Count(bloom(t, 10, policy.WithName("before")))
			after := policy.Count(bloom(t, 10, policy.WithName("after")))
			o := configured(t, small(format), before, pebblev2.WithL6())
			filters := o.Filters
			inUse := maps.Clone(filters)
			db := open(t, dir, o)

			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
					}
					for _, opts := range [][]pebblev2.Option{{pebblev2.WithL6()}, nil} {
						if err := pebblev2.Configure(o, after, opts...); err != nil {
							t.Errorf("Configure: %v", err)
						}
					}
					if err := pebblev2.ConfigureLevels(o, []policy.Policy{after, nil, after}); err != nil {
						t.Errorf("ConfigureLevels: %v", err)
					}
				}
			}()
			for part := range slices.Chunk(keys, 500) {
				put(t, db, part)
				require.Zero(t, lostBySeek(t, db, part))
			}
			compact(t, db)
			require.Zero(t, lostBySeek(t, db, keys))
			close(stop)
			<-stopped

			require.Equal(t, inUse, filters)
			require.Equal(t, []string{"before"}, tables(t, db)[6])
			require.Positive(t, before.Snapshot().MayContain)
			require.Zero(t, after.Snapshot())
			require.NoError(t, db.Close())

			// The options have what was configured last, for the next time.
			db = open(t, dir, o)
			put(t, db, keys)
			require.Equal(t, []string{"after"}, tables(t, db)[0])
			require.Zero(t, lostBySeek(t, db, keys))
			require.NoError(t, db.Close())
		})
	}
}

// The name counts that a policy has when it is configured, whatever it says later.
func TestNameThatChanges(t *testing.T) {
	dir := t.TempDir()
	keys := randomKeys(seeded(t, 101), 1000)
	spied := &spy{Policy: bloom(t, 10)}
	p := &renaming{Policy: spied}
	o := configured(t, resting(small(pebble.FormatNewest)), p)
	require.Contains(t, o.Filters, "a")
	require.NotContains(t, o.Filters, "b")
	db := open(t, dir, o)
	put(t, db, keys)
	require.Equal(t, []string{"a"}, tables(t, db)[0])
	require.Zero(t, lostByGet(t, db, keys))
	require.EqualValues(t, len(keys), spied.asked.Load())
	require.NoError(t, db.Close())

	// At the next time it has another one. The policy that the levels had stays as a reader.
	spied.asked.Store(0)
	require.NoError(t, pebblev2.Configure(o, p))
	require.Contains(t, o.Filters, "a")
	require.Contains(t, o.Filters, "b")
	db = open(t, dir, o)
	require.Zero(t, lostByGet(t, db, keys))
	require.EqualValues(t, len(keys), spied.asked.Load())
	_, err := pebblev2.Rewrite(context.Background(), db, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// Configure twice is Configure once.
func TestConfigureTwice(t *testing.T) {
	p := bloom(t, 10)
	for _, opts := range [][]pebblev2.Option{nil, {pebblev2.WithL6()}} {
		once := configured(t, &pebble.Options{}, p, opts...)
		twice := configured(t, configured(t, &pebble.Options{}, p, opts...), p, opts...)
		require.Equal(t, filtersOf(once), filtersOf(twice))
		require.Equal(t, ensured(once).String(), ensured(twice).String())
		require.Equal(t, once.Filters, twice.Filters)
	}
}
