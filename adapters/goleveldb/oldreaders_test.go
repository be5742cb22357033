package goleveldb_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// entries is the content of a database.
type entries map[string]string

// oneTable is a database of one table, for readers that know LevelDB's encoding alone.
type oneTable struct {
	dir, name string // name is that of its policy
	content   entries
	absent    [][]byte // keys to look up too
}

// newOneTable returns a database that is yet to be written.
func newOneTable(t *testing.T, name string) oneTable {
	all := testkit.Keys(testkit.Rand(t, 61), 10_000)
	d := oneTable{filepath.Join(t.TempDir(), "db"), name, entries{"": "of the empty key"}, all[5000:]}
	for i, key := range all[:5000] {
		d.content[string(key)] = fmt.Sprint("value ", i)
	}
	return d
}

// write writes the database with p, whose window is 2^baseLg bytes.
func (d oneTable) write(t *testing.T, p *policy.Policy, baseLg int) {
	db := open(t, d.dir, &opt.Options{Filter: goleveldb.New(p), FilterBaseLg: baseLg})
	for key, value := range d.content {
		require.NoError(t, db.Put([]byte(key), []byte(value), nil))
	}
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
}

// renamed is a filter under another name.
type renamed struct {
	filter.Filter
	name string
}

func (r renamed) Name() string { return r.name }

// read looks up all keys with our filters, with goleveldb's own under the database's name, and with
// C++ LevelDB, which has its own filters and then the policy of testdata/cppreader. All find the
// content and nothing else, and consult filters as often. goleveldb's own filter answers as C++
// LevelDB's does, and ours as the policy. read returns what ours and goleveldb's own answered for
// the absent keys.
func (d oneTable) read(t *testing.T) (ours, theirs policy.Counters) {
	look := func(o *opt.Options) policy.Counters {
		var w enginetest.Watch
		watch(o, &w)
		o.ReadOnly = true
		db := open(t, d.dir, o)
		for key, value := range d.content {
			got, err := db.Get([]byte(key), nil)
			require.NoError(t, err)
			require.Equal(t, value, string(got))
		}
		require.Equal(t, policy.Counters{MayContain: uint64(len(d.content))}, total(w.Take()))
		requireAbsent(t, db, d.absent)
		require.NoError(t, db.Close())
		return total(w.Take())
	}
	// Reading needs no setting: 1 bit per key reads all.
	ours = look(configured(t, nil, bloom(t, 1, policy.WithName(d.name))))
	theirs = look(&opt.Options{Filter: renamed{filter.NewBloomFilter(10), d.name}})
	require.Equal(t, enginetest.Checks(ours), enginetest.Checks(theirs))

	t.Run("C++", func(t *testing.T) { // last: it may change the database
		program := buildCpp(t)
		keys := d.absent
		for key := range d.content {
			keys = append(keys, []byte(key))
		}
		requireAnswers := func(want policy.Counters, reader ...string) {
			found, answers := program.read(t, d.dir, d.name, keys, reader...)
			require.Equal(t, d.content, found)
			answers.MayContain -= uint64(len(d.content))
			require.Equal(t, want, answers)
		}
		requireAnswers(theirs)
		requireAnswers(ours, "ours")
	})
	return ours, theirs
}

// total adds up answers.
func total(answers map[enginetest.Label]policy.Counters) (sum policy.Counters) {
	for _, c := range answers {
		sum.Absent += c.Absent
		sum.MayContain += c.MayContain
	}
	return sum
}

// goleveldb's own filter and C++ LevelDB lose no key by filters of any kind, under both names, for
// a window of 2 KiB or a whole table, and avoid reads by the Bloom filters.
func TestOldReaders(t *testing.T) {
	for i, name := range []string{policy.Name, policy.NameGoLevelDB} {
		for j, kind := range enginetest.Kinds {
			t.Run(kind.Name+", "+name, func(t *testing.T) {
				d := newOneTable(t, name)
				d.write(t, kind.MustNew(10, name), []int{11, 21}[(i+j)%2])
				ours, theirs := d.read(t)
				require.Greater(t, ours.Absent, uint64(4800))
				if kind.Encoding == policy.EncodingBloom {
					require.Equal(t, ours, theirs)
				} else {
					require.Zero(t, theirs.Absent)
				}
			})
		}
	}
}

// Ours and goleveldb's own filter read what C++ LevelDB writes, under both names, and answer as it
// does.
func TestCppWrites(t *testing.T) {
	program := buildCpp(t)
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		t.Run(name, func(t *testing.T) {
			d := newOneTable(t, name)
			program.write(t, d.dir, name, 10, d.content)
			ours, theirs := d.read(t)
			require.Equal(t, ours, theirs)
			require.Greater(t, theirs.Absent, uint64(4800))
		})
	}
}

// requireAbsent requires that a database has none of the keys.
func requireAbsent(t testing.TB, db *leveldb.DB, keys [][]byte) {
	for _, key := range keys {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound, "key %x", key)
	}
}
