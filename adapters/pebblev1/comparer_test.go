package pebblev1_test

import (
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
)

// The default comparer has no Split. Its filters hold whole keys, so a database may go on with a comparer of the same name
// that splits off whole keys, and SeekPrefixGE then asks the filters that are there.
func TestDefaultComparer(t *testing.T) {
	require.Nil(t, pebble.DefaultComparer.Split)
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			keys := randomKeys(seeded(t, 80), 3000)
			s := &spy{Policy: bloom(t, 10)}
			options := func() *pebble.Options {
				o := configured(t, small(format), s, pebblev1.WithL6())
				o.Comparer = nil
				return o
			}
			fill(t, dir, options, keys)

			db := open(t, dir, resting(options()))
			require.Zero(t, lostByGet(t, db, keys))
			byGet := s.asked.Load()
			require.Greater(t, byGet, int64(len(keys)/3))
			s.lies = true
			require.GreaterOrEqual(t, lostByGet(t, db, keys), len(keys)/3, "this test would notice lost keys")
			s.lies = false
			require.NoError(t, db.Close())

			o := resting(options())
			o.Comparer = comparers[0]
			byGet = s.asked.Load()
			db = open(t, dir, o)
			require.Zero(t, lostBySeek(t, db, keys))
			require.Greater(t, s.asked.Load()-byGet, int64(len(keys)))
			require.NoError(t, db.Close())
		})
	}
}
