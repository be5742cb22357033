package goleveldb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/policy"
)

// fillRange writes n keys that begin with prefix, so that the tables of two prefixes do not overlap, and brings them to
// tables.
func (e entries) fillRange(t testing.TB, db *leveldb.DB, prefix string, n int) {
	for i := range n {
		e.put(t, db, []byte(fmt.Sprintf("%s%06d", prefix, i)), []byte(fmt.Sprintf("value %d", i)))
	}
	require.NoError(t, db.CompactRange(*util.BytesPrefix([]byte(prefix))))
}

// A database of goleveldb's own filter goes over to ours and back to the plain engine. All the time every key is found,
// through the filters that whoever has the database open can read.
func TestTakingOverAndLeaving(t *testing.T) {
	const n = 2000
	for _, c := range []struct {
		name           string
		asksOursAtLast bool
	}{
		{policy.Name, false},
		{policy.NameGoLevelDB, true},
		{"a name of one's own", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			p := bloom(t, 16, policy.WithName(c.name))
			old, recent := entries{}, entries{}

			db := open(t, dir, &opt.Options{Filter: filter.NewBloomFilter(10)})
			old.fillRange(t, db, "old", n)
			require.NoError(t, db.Close())

			// With the former filter in the options or without, the old filters are asked, and only for the old tables.
			for _, former := range []filter.Filter{filter.NewBloomFilter(10), nil} {
				ours := &spy{Policy: p}
				o := configured(t, &opt.Options{Filter: former, ReadOnly: true}, ours)
				asked := ours.asked.Load
				if c.name != policy.NameGoLevelDB {
					asked = countReader(t, o, policy.NameGoLevelDB)
				}
				db = open(t, dir, o)
				require.Zero(t, old.lost(t, db))
				require.EqualValues(t, n, asked())
				require.NoError(t, db.Close())
			}

			ours := &spy{Policy: p}
			db = open(t, dir, configured(t, &opt.Options{Filter: filter.NewBloomFilter(10)}, ours))
			recent.fillRange(t, db, "recent", n)
			ours.asked.Store(0)
			require.Zero(t, recent.lost(t, db))
			require.EqualValues(t, n, ours.asked.Load(), "new tables have our filters")
			require.Zero(t, old.lost(t, db))
			require.NoError(t, db.Close())

			// Back to the plain engine.
			theirs := &counted{Filter: filter.NewBloomFilter(10)}
			db = open(t, dir, &opt.Options{Filter: theirs, ReadOnly: true})
			require.Zero(t, old.lost(t, db))
			require.EqualValues(t, n, theirs.asked.Load())
			require.Zero(t, recent.lost(t, db))
			if c.asksOursAtLast {
				require.EqualValues(t, 2*n, theirs.asked.Load())
			} else {
				require.EqualValues(t, n, theirs.asked.Load(), "a filter of an unknown name is ignored")
			}
			require.NoError(t, db.Close())
		})
	}
}

// countReader counts the questions to the filter that Configure put among the alternatives under name.
func countReader(t testing.TB, o *opt.Options, name string) (asked func() int64) {
	for i, f := range o.AltFilters {
		if f.Name() == name {
			c := &counted{Filter: f}
			o.AltFilters[i] = c
			return c.asked.Load
		}
	}
	require.Fail(t, "no reader", "of %s", name)
	return nil
}

// The filters that the user's former filter made are asked through it, also if only the user knows their encoding.
func TestTakingOverAnotherEncoding(t *testing.T) {
	const n = 2000
	dir := t.TempDir()
	content := entries{}
	former := &counted{Filter: reversed{filter.NewBloomFilter(10)}}
	db := open(t, dir, &opt.Options{Filter: former})
	content.fillRange(t, db, "key", n)
	require.NoError(t, db.Close())

	former.asked.Store(0)
	ours := &spy{Policy: bloom(t, 10)}
	o := configured(t, &opt.Options{Filter: former}, ours)
	db = open(t, dir, o)
	require.Zero(t, content.lost(t, db))
	require.EqualValues(t, n, former.asked.Load())
	require.Zero(t, ours.asked.Load())

	// A compaction makes the tables ours.
	for key, value := range content {
		content.put(t, db, []byte(key), []byte(value+", again"))
	}
	require.NoError(t, db.CompactRange(util.Range{}))
	former.asked.Store(0)
	require.Zero(t, content.lost(t, db))
	require.Zero(t, former.asked.Load())
	require.EqualValues(t, n, ours.asked.Load())
	require.NoError(t, db.Close())
}

// reversed is a filter of an encoding of its own: the keys are read backwards.
type reversed struct{ filter.Filter }

func (reversed) Name() string { return "reversed" }

func (r reversed) Contains(filter, key []byte) bool { return r.Filter.Contains(filter, backwards(key)) }

func (r reversed) NewGenerator() filter.FilterGenerator {
	return reversedGenerator{r.Filter.NewGenerator()}
}

type reversedGenerator struct{ filter.FilterGenerator }

func (g reversedGenerator) Add(key []byte) { g.FilterGenerator.Add(backwards(key)) }

func backwards(key []byte) []byte {
	b := make([]byte, len(key))
	for i, c := range key {
		b[len(key)-1-i] = c
	}
	return b
}
