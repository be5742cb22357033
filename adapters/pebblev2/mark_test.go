package pebblev2_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// collectorsOf returns the names of o's collectors.
func collectorsOf(o *pebble.Options) (names []string) {
	for _, collector := range o.BlockPropertyCollectors {
		names = append(names, collector().Name())
	}
	return names
}

// usersCollectors returns n collectors with names of their own. Each is a mark that was renamed.
func usersCollectors(t testing.TB, n int) (all []func() pebble.BlockPropertyCollector) {
	mark := configured(t, small(pebble.FormatNewest), bloom(t, 10)).BlockPropertyCollectors[0]
	for i := range n {
		name := fmt.Sprintf("users%d", i)
		all = append(all, func() pebble.BlockPropertyCollector { return &busy{mark(), name, 0} })
	}
	return all
}

// Configure adds the mark to the user's collectors, once, and leaves their slice alone. Formats
// that do not store it, and large index blocks, have none.
func TestMark(t *testing.T) {
	p := bloom(t, 10)
	for _, configure := range []configuring{
		one(p), configureLevels(p), configureLevels(noFilters, p),
	} {
		for _, format := range formats {
			for _, n := range []int{0, 1, 3} {
				users := usersCollectors(t, n+1)[:n]
				next := &users[:n+1][n]
				before := (*next)().Name()
				o := small(format)
				o.BlockPropertyCollectors = users
				want := collectorsOf(o)
				if marks(format) {
					want = append([]string{"levelbloom.probe"}, want...)
				}
				for range 2 {
					require.NoError(t, configure(o))
					require.Equal(t, want, collectorsOf(o))
				}
				require.Equal(t, before, (*next)().Name(), "memory that others may use")
				for level := range 7 {
					indexBlocks(o, level, 16<<10)
					require.NoError(t, configure(o))
					require.Equal(t, want, collectorsOf(o))
					indexBlocks(o, level, 16<<10+1)
					if level < 6 {
						indexBlocks(o, 6, 16<<10) // or it would have that of the level above
					}
					require.NoError(t, configure(o))
					require.Len(t, o.BlockPropertyCollectors, n, "level %d", level)
					indexBlocks(o, level, 0)
					indexBlocks(o, 6, 0)
				}
				o.Levels[0].BlockSize = 16<<10 + 1 // that of index blocks, unless it is set
				require.NoError(t, configure(o))
				require.Len(t, o.BlockPropertyCollectors, n)
			}
		}
	}
	o := small(pebble.FormatNewest)
	o.BlockPropertyCollectors = []func() pebble.BlockPropertyCollector{nil}
	require.ErrorContains(t, pebblev2.Configure(o, p), "a block property collector is nil")
}

// Configure takes as many collectors as Pebble can write, and refuses more.
func TestManyCollectors(t *testing.T) {
	p := bloom(t, 10)
	o := small(pebble.FormatNewest)
	o.BlockPropertyCollectors = usersCollectors(t, mostCollectors)
	db := open(t, "db", resting(configured(t, o, p)))
	put(t, db, [][]byte{[]byte("key")})
	require.Equal(t, 1, onDisk(t, db)[0].marked)
	require.NoError(t, db.Close())

	o = small(pebble.FormatNewest)
	o.BlockPropertyCollectors = usersCollectors(t, mostCollectors+1)
	require.ErrorContains(t, pebblev2.Configure(o, p), fmt.Sprintf("%d block property collectors: "+
		"Pebble has room for %d", mostCollectors+1, mostCollectors))
	require.Nil(t, o.Filters)
}

// requireLookups requires that all lookups find keys and not the absent ones, and that db is sound.
func requireLookups(t testing.TB, db *pebble.DB, keys, absent [][]byte) {
	t.Helper()
	for _, key := range keys {
		require.True(t, requireSameAnswer(t, db, key).found)
	}
	for _, key := range absent {
		require.False(t, requireSameAnswer(t, db, key).found)
	}
	found, err := pebblev2.HasMany(db, keys)
	require.NoError(t, err)
	require.NotContains(t, found, false)
	requireSound(t, db)
}

// A table with a forged mark hides no key, alone or beside tables with the right one. The mark is
// empty, or has another number than Pebble gave it. Pebble refuses a property without a number, and
// the lookups return its error.
func TestForgedMark(t *testing.T) {
	keys := testkit.Keys(testkit.Rand(t, 145), 400)
	for name, property := range map[string][]byte{
		"right": {0, 1}, "empty": {0}, "as 1": {1, 1}, "as 100": {100, 1}, "as 1, empty": {1},
		"nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			options := func() *pebble.Options {
				o := small(pebble.FormatNewest)
				o.FS = fs
				return resting(configured(t, o, bloom(t, 10)))
			}
			write := func(forge bool, keys [][]byte) {
				o := options()
				if forge {
					newMark := o.BlockPropertyCollectors[0]
					o.BlockPropertyCollectors[0] = func() pebble.BlockPropertyCollector {
						return forged{newMark(), property}
					}
				}
				db := open(t, "db", o)
				put(t, db, keys)
				require.NoError(t, db.Close())
			}
			write(true, keys[:100]) // older than all others
			write(false, keys[100:300])
			write(true, keys[200:300]) // newer
			db := open(t, "db", options())
			if name == "nothing" {
				for name, look := range lookUps {
					_, err := look(db, keys[0])
					require.ErrorContains(t, err, "is corrupted", name)
				}
			} else {
				requireLookups(t, db, keys[:300], keys[300:])
			}
			require.NoError(t, db.Close())
		})
	}
}

// forged is the mark with another property of the table.
type forged struct {
	pebble.BlockPropertyCollector
	property []byte
}

func (f forged) FinishTable([]byte) ([]byte, error) { return f.property, nil }

// A table whose keys get another suffix keeps the mark. Without it, a table needs writer options
// without collectors, and with the policy of its own filter, which it keeps.
func TestRewrittenSuffixes(t *testing.T) {
	for _, marked := range []bool{true, false} {
		plain := small(pebble.FormatNewest)
		plain.Comparer = getComparers[1]
		plain.Levels[0].FilterPolicy = engine.FilterPolicy(10)
		o := configured(t, plain.Clone(), bloom(t, 10))
		db := open(t, "db", o)
		if marked {
			plain = o
		}
		require.NoError(t, writeTableFor(db, plain, "table",
			[]enginetest.Change{{Key: []byte("key@1"), Value: []byte("value")}}))
		file, err := o.FS.Open("table")
		require.NoError(t, err)
		table, err := io.ReadAll(file)
		require.NoError(t, errors.Join(err, file.Close()))
		full := ensured(o)
		options := full.MakeWriterOptions(0, tableFormat(db))
		rewrite := func() error {
			_, _, err := sstable.RewriteKeySuffixesAndReturnFormat(table, full.MakeReaderOptions(),
				createWritable(t, o.FS, "rewritten"), options, []byte("@1"), []byte("@2"), 1)
			return err
		}
		name := policy.NameLevelDB
		if !marked {
			name = engineName
			require.Error(t, rewrite())
			options.BlockPropertyCollectors, options.FilterPolicy = nil, o.Filters[name]
		}
		require.NoError(t, rewrite())
		require.NoError(t, ingest(db, "rewritten"))
		requireLookups(t, db, [][]byte{[]byte("key@2")}, [][]byte{[]byte("key@1")})
		l6 := onDisk(t, db)[6]
		require.Equal(t, map[string]int{name: 1}, l6.byName)
		require.Equal(t, marked, l6.marked == 1)
		require.NoError(t, db.Close())
	}
}
