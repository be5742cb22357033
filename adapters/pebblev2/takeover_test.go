package pebblev2_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// A database of Pebble's own filters goes over to ours, back to the plain engine, and over again. All the time every key
// is found, through the filters that whoever has the database open can read.
func TestTakingOverAndLeaving(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			keys := randomKeys(seeded(t, 30), 2000)
			sunk, old, recent, last := keys[:500], keys[500:1000], keys[1000:1500], keys[1500:]
			p := bloom(t, 16)

			plain := func() *pebble.Options {
				o := resting(small(format))
				o.Levels[0].FilterPolicy = engine.FilterPolicy(10) // the levels below inherit it
				return o
			}
			bare := func() *pebble.Options { return resting(small(format)) }

			// everyKeyIsFound reads keys and tells how often each policy was asked. Pebble's own count must agree.
			everyKeyIsFound := func(o *pebble.Options, ours *spy, theirs *counted, keys ...[][]byte) (byOurs, byTheirs int64) {
				db := open(t, dir, o)
				for _, keys := range keys {
					require.Zero(t, lostByGet(t, db, keys))
					require.Zero(t, lostBySeek(t, db, keys))
				}
				asked, absent := theirs.asked.Load(), theirs.absent.Load()
				if ours != nil {
					asked, absent = asked+ours.asked.Load(), absent+ours.absent.Load()
					byOurs = ours.asked.Load()
				}
				m := db.Metrics().Filter
				require.Equal(t, absent, m.Hits)
				require.Equal(t, asked-absent, m.Misses)
				require.NoError(t, db.Close())
				return byOurs, theirs.asked.Load()
			}

			db := open(t, dir, plain())
			put(t, db, sunk)
			compact(t, db)
			put(t, db, old)
			require.Equal(t, []string{engineName}, tables(t, db)[6])
			require.Equal(t, []string{engineName}, tables(t, db)[0])
			require.NoError(t, db.Close())

			// With the former policy in the options or without, the old filters are asked.
			for _, former := range []func() *pebble.Options{plain, bare} {
				ours := &spy{Policy: p}
				o := configured(t, former(), ours)
				theirs := countReader(t, o, engineName)
				byOurs, byTheirs := everyKeyIsFound(o, ours, theirs, sunk, old)
				require.Zero(t, byOurs)
				require.Greater(t, byTheirs, int64(2*len(old)+len(sunk)))
			}

			// New tables get our filters, and the old ones are asked beside them.
			db = open(t, dir, configured(t, plain(), p))
			put(t, db, recent)
			require.Equal(t, []string{policy.Name, engineName}, tables(t, db)[0])
			require.NoError(t, db.Close())
			for _, former := range []func() *pebble.Options{plain, bare} {
				ours := &spy{Policy: p}
				o := configured(t, former(), ours)
				theirs := countReader(t, o, engineName)
				byOurs, byTheirs := everyKeyIsFound(o, ours, theirs, sunk, old, recent)
				require.Greater(t, byOurs, int64(2*len(recent)))
				require.Greater(t, byTheirs, int64(2*len(old)+len(sunk)))
			}

			// Back to the plain engine: it ignores our filters, and writes its own again.
			o := plain()
			theirs := &counted{FilterPolicy: engine.FilterPolicy(10)}
			o.Filters = map[string]pebble.FilterPolicy{engineName: theirs}
			_, byTheirs := everyKeyIsFound(o, nil, theirs, sunk, old, recent)
			require.Greater(t, byTheirs, int64(2*len(old)+len(sunk)))
			db = open(t, dir, plain())
			put(t, db, last)
			require.NoError(t, db.Close())

			// And over again. A reader that the user has put into the options stays.
			ours := &spy{Policy: p}
			theirs = &counted{FilterPolicy: engine.FilterPolicy(10)}
			o = plain()
			o.Filters = map[string]pebble.FilterPolicy{engineName: theirs}
			byOurs, byTheirs := everyKeyIsFound(configured(t, o, ours), ours, theirs, sunk, old, recent, last)
			require.Greater(t, byOurs, int64(2*len(recent)))
			require.Greater(t, byTheirs, int64(2*len(old)+2*len(last)+len(sunk)))

			// Compactions replace the old filters.
			db = open(t, dir, configured(t, plain(), p))
			compact(t, db)
			require.Empty(t, tables(t, db)[0])
			require.Equal(t, []string{""}, tables(t, db)[6])
			require.Zero(t, lostByGet(t, db, keys))
			require.Zero(t, lostBySeek(t, db, keys))
			require.NoError(t, db.Close())
		})
	}
}

// Filters under the other name of LevelDB's encoding, or under a former name of one's own, are asked too.
func TestFormerNamesAreAsked(t *testing.T) {
	for _, c := range []struct {
		former, now string
		inOptions   bool // the former policy is still in the options
	}{
		{policy.NameGoLevelDB, policy.Name, false},
		{policy.Name, policy.NameGoLevelDB, false},
		{policy.Name, "mine", false},
		{"mine", policy.Name, true},
	} {
		t.Run(c.former+" to "+c.now, func(t *testing.T) {
			dir := t.TempDir()
			keys := randomKeys(seeded(t, 31), 500)
			former := func() *pebble.Options {
				return configured(t, resting(small(pebble.FormatNewest)), bloom(t, 20, policy.WithName(c.former)))
			}
			db := open(t, dir, former())
			put(t, db, keys)
			require.NoError(t, db.Close())

			o := resting(small(pebble.FormatNewest))
			if c.inOptions {
				o = former()
				o.Filters = nil // the levels alone have it
			}
			ours := &spy{Policy: bloom(t, 10, policy.WithName(c.now))}
			reader := countReader(t, configured(t, o, ours), c.former)
			db = open(t, dir, o)
			require.Zero(t, lostByGet(t, db, keys))
			require.EqualValues(t, len(keys), reader.asked.Load())
			require.Zero(t, ours.asked.Load())
			require.NoError(t, db.Close())
		})
	}
}

// Policies with different bits per key read each other's filters under one name.
func TestOtherBitsUnderOneName(t *testing.T) {
	dir := t.TempDir()
	keys := randomKeys(seeded(t, 32), 2000)
	db := open(t, dir, configured(t, resting(small(pebble.FormatNewest)), bloom(t, 4)))
	put(t, db, keys[:1000])
	require.NoError(t, db.Close())

	s := &spy{Policy: bloom(t, 14)}
	db = open(t, dir, configured(t, resting(small(pebble.FormatNewest)), s))
	put(t, db, keys[1000:])
	require.Equal(t, []string{policy.Name}, tables(t, db)[0])
	require.Zero(t, lostByGet(t, db, keys))
	require.GreaterOrEqual(t, s.asked.Load(), int64(len(keys)))
	require.NoError(t, db.Close())
}
