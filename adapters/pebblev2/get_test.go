package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Get and Has find what lies in L0, in a level between and in L6, and ask the filters of each.
func TestGetAsksAllLevels(t *testing.T) {
	onEveryShape(t, func(t *testing.T, options func() *pebble.Options) {
		dir, all := t.TempDir(), policytest.Keys(policytest.Rand(t, 120), 4000)
		keys, absent := all[:3000], all[3000:]
		p, l6 := policy.Count(bloom(t, 10)), policy.Count(bloom(t, 10, policy.WithName("l6")))
		configuredWithL6 := func() *pebble.Options {
			return configured(t, options(), p, pebblev2.WithL6(l6))
		}
		fill(t, dir, configuredWithL6, keys)
		db := open(t, dir, resting(configuredWithL6()))
		for _, key := range keys {
			got, err := readValue(pebblev2.Get(db, key))
			require.NoError(t, err)
			require.Equal(t, value(key), got)
			found, err := pebblev2.Has(db, key)
			require.NoError(t, err)
			require.True(t, found)
		}
		before := l6.Snapshot()
		for _, key := range absent {
			_, _, err := pebblev2.Get(db, key)
			require.Equal(t, pebble.ErrNotFound, err)
			found, err := pebblev2.Has(db, key)
			require.NoError(t, err)
			require.False(t, found)
		}
		asked := l6.Snapshot().Sub(before)
		require.Greater(t, asked.ReadsAvoided, uint64(2*len(absent)*95/100))
		require.NoError(t, db.Close())
	})
}
