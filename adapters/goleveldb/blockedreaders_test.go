package goleveldb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// inTurn is a policy whose builders make filters of two encodings in turn, so that one table has both.
type inTurn struct {
	policy.Policy
	other policy.Policy
}

func (p inTurn) NewBuilder() policy.Builder {
	return &inTurnBuilder{p.Policy.NewBuilder(), p.other.NewBuilder()}
}

type inTurnBuilder struct {
	policy.Builder
	next policy.Builder
}

func (b *inTurnBuilder) Add(key []byte) { b.Builder.Add(key) }

func (b *inTurnBuilder) Finish(dst []byte) []byte {
	dst = b.Builder.Finish(dst)
	b.Builder, b.next = b.next, b.Builder
	return dst
}

// forOldReader is a database of one table with blocked filters, and what a reader that knows LevelDB's encoding alone has
// to answer.
type forOldReader struct {
	dir, name string
	content   entries
	keys      [][]byte // present ones, and absent ones
	asked     uint64   // how often filters are asked for keys
	absent    uint64   // how often exact filters are, and say "absent"
}

// onDatabasesForOldReaders runs a test on databases under both names, with filters of one line and of many, alone and
// with exact filters between.
func onDatabasesForOldReaders(t *testing.T, test func(t *testing.T, d forOldReader)) {
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		named := policy.WithName(name)
		for _, c := range []struct {
			what   string
			p      policy.Policy
			baseLg int
		}{
			{"blocked", blocked(t, 10, named), 11},
			{"blocked, 20 bits", blocked(t, 20, named), 13},
			{"blocked, one filter of many lines", blocked(t, 10, named), 21},
			{"blocked and exact in turn", inTurn{blocked(t, 10, named), bloom(t, 10, named)}, 11},
		} {
			t.Run(name+", "+c.what, func(t *testing.T) {
				d := forOldReader{dir: t.TempDir(), name: name, content: entries{}}
				o := &opt.Options{}
				require.NoError(t, goleveldb.Configure(o, c.p, goleveldb.WithFilterBaseLg(c.baseLg)))
				db := open(t, d.dir, o)
				d.content.fill(t, db, 61, 5000)
				d.content.put(t, db, nil, []byte("of the empty key"))
				require.NoError(t, db.CompactRange(util.Range{}))
				require.NoError(t, db.Close())
				for key := range d.content {
					d.keys = append(d.keys, []byte(key))
				}
				d.keys = append(d.keys, randomKeys(seeded(t, 62), 5000)...)

				o = configured(t, &opt.Options{ReadOnly: true}, bloom(t, 1, named)) // reading needs no setting
				w := watch(o)
				db = open(t, d.dir, o)
				require.Equal(t, 1, levelsInUse(tablesPerLevel(t, db)))
				require.Zero(t, d.content.lost(t, db))
				requireAbsent(t, db, d.keys[len(d.content):])
				require.NoError(t, db.Close())
				for last, c := range w {
					d.asked += c.Checks()
					if last != blockedEncoding {
						d.absent += c.ReadsAvoided
					}
				}
				require.Greater(t, d.asked, uint64(len(d.keys)-100), "few random keys are outside of the table's range")
				require.Greater(t, w[blockedEncoding].ReadsAvoided, uint64(2000), "our own reader is spared reads")
				if _, mixed := c.p.(inTurn); mixed {
					require.Greater(t, d.absent, uint64(2000))
				} else {
					require.Zero(t, d.absent)
				}
				test(t, d)
			})
		}
	}
}

// goleveldb's own filter, under its own name and under LevelDB's, loses no key of blocked filters.
func TestGoLevelDBReadsBlocked(t *testing.T) {
	onDatabasesForOldReaders(t, func(t *testing.T, d forOldReader) {
		theirs := &tally{Filter: renamed{filter.NewBloomFilter(10), d.name}}
		db := open(t, d.dir, &opt.Options{Filter: theirs, ReadOnly: true})
		d.content.requireContent(t, db)
		requireAbsent(t, db, d.keys[len(d.content):])
		require.NoError(t, db.Close())
		require.Equal(t, policy.Counters{ReadsAvoided: d.absent, MayContain: d.asked - d.absent}, theirs.Counters)
	})
}

// Nor does C++ LevelDB.
func TestCppReadsBlocked(t *testing.T) {
	program := buildCpp(t)
	onDatabasesForOldReaders(t, func(t *testing.T, d forOldReader) {
		found, asked, absent := program.read(t, d.dir, d.name, d.keys)
		require.Equal(t, d.content, found)
		require.EqualValues(t, d.asked, asked)
		require.EqualValues(t, d.absent, absent)
	})
}

// C++ LevelDB reads databases of several tables, with goleveldb's own filters, exact ones and blocked ones.
func TestCppReadsBlockedBesideOthers(t *testing.T) {
	program := buildCpp(t)
	const n = 1000
	named := policy.WithName(policy.NameGoLevelDB)
	dir := t.TempDir()
	content := entries{}
	var keys [][]byte
	for prefix, o := range map[string]*opt.Options{
		"a": {Filter: filter.NewBloomFilter(10)},
		"b": configured(t, nil, bloom(t, 16, named)),
		"c": configured(t, nil, blocked(t, 10, named)),
		"d": configured(t, nil, blocked(t, 10)), // under a name that the reader does not know
	} {
		db := open(t, dir, o)
		content.fillRange(t, db, prefix, n)
		require.NoError(t, db.Close())
		keys = append(keys, between(prefix, n)...)
	}
	for key := range content {
		keys = append(keys, []byte(key))
	}
	found, asked, absent := program.read(t, dir, policy.NameGoLevelDB, keys)
	require.Equal(t, content, found)
	// C++ LevelDB may compact while it reads; then less is known of the counts.
	require.Greater(t, asked, int64(5*n))
	require.Greater(t, absent, int64(n))
	require.LessOrEqual(t, absent, int64(2*n), "the absent keys of the tables with exact filters")
}

// cppRun is a line of the table in testdata/goleveldb/README.md: what C++ LevelDB answered.
type cppRun struct {
	dir, name string // a copy of the database, and the name of its policy
	content   entries
	answers   policy.Counters
}

// cppRunKeys are the keys that the README's command looks up.
func cppRunKeys() (keys [][]byte) {
	for i := range 9000 {
		keys = append(keys, fmt.Appendf(nil, "k%07d", i))
	}
	return keys
}

// onCppRuns runs a test on every line of the table.
func onCppRuns(t *testing.T, test func(t *testing.T, r cppRun)) {
	const stored = "../../testdata/goleveldb"
	readme, err := os.ReadFile(filepath.Join(stored, "README.md"))
	require.NoError(t, err)
	line := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `([\\w.]+)` \\| `checks=(\\d+) absent=(\\d+)` \\|$")
	lines := line.FindAllStringSubmatch(string(readme), -1)
	require.Len(t, lines, 3)
	for _, l := range lines {
		t.Run(l[1], func(t *testing.T) {
			r := cppRun{dir: t.TempDir(), name: l[2], content: entries{}}
			require.NoError(t, os.CopyFS(r.dir, os.DirFS(filepath.Join(stored, l[1]))))
			checks, err := strconv.ParseUint(l[3], 10, 64)
			require.NoError(t, err)
			r.answers.ReadsAvoided, err = strconv.ParseUint(l[4], 10, 64)
			require.NoError(t, err)
			r.answers.MayContain = checks - r.answers.ReadsAvoided

			db := open(t, r.dir, &opt.Options{ReadOnly: true}) // no filter is asked
			it := db.NewIterator(nil, nil)
			for it.Next() {
				r.content[string(it.Key())] = string(it.Value())
			}
			it.Release()
			require.NoError(t, it.Error())
			require.NoError(t, db.Close())
			require.Greater(t, len(r.content), 2600)
			test(t, r)
		})
	}
}

// What the README says of C++ LevelDB is so.
func TestCppReadsStored(t *testing.T) {
	program := buildCpp(t)
	onCppRuns(t, func(t *testing.T, r cppRun) {
		found, asked, absent := program.read(t, r.dir, r.name, cppRunKeys())
		require.Equal(t, r.content, found)
		require.Equal(t, r.answers, policy.Counters{ReadsAvoided: uint64(absent), MayContain: uint64(asked - absent)})
	})
}

// goleveldb's own filter answers as C++ LevelDB does. Ours is asked as often, finds the same, and avoids reads.
func TestGoReadsStored(t *testing.T) {
	onCppRuns(t, func(t *testing.T, r cppRun) {
		theirs := &tally{Filter: renamed{filter.NewBloomFilter(10), r.name}}
		p := blocked(t, 10, policy.WithName(r.name))
		ours := policy.Count(p)
		for _, o := range []*opt.Options{{Filter: theirs}, configured(t, nil, ours)} {
			o.ReadOnly = true
			db := open(t, r.dir, o)
			for _, key := range cppRunKeys() {
				value, err := db.Get(key, nil)
				if want, present := r.content[string(key)]; present {
					require.NoError(t, err, "key %s", key)
					require.Equal(t, want, string(value), "key %s", key)
				} else {
					require.ErrorIs(t, err, leveldb.ErrNotFound, "key %s", key)
				}
			}
			require.NoError(t, db.Close())
		}
		require.Equal(t, r.answers, theirs.Counters)
		require.Equal(t, r.answers.Checks(), ours.Snapshot().Checks())
		if r.answers.ReadsAvoided == 0 {
			// Of 5,998 keys in the table's range that were never written. Deleted ones are in the filter.
			require.Greater(t, ours.Snapshot().ReadsAvoided, uint64(5998*985/1000))
			requireStoredFilters(t, r.dir, p)
		} else {
			require.Equal(t, r.answers, ours.Snapshot())
		}
	})
}

// requireStoredFilters checks that the filters of a database's only table are those that p makes of its keys.
func requireStoredFilters(t *testing.T, dir string, p policy.Policy) {
	files := readTables(t, dir)
	require.Len(t, files, 1)
	asked := &spy{Policy: p}
	r := openTable(t, files[0], goleveldb.TableOptions(&opt.Options{Filter: goleveldb.New(asked)}))
	defer r.Release()
	requireFilters(t, r, asked, int(filterOnDisk(t, files[0]).baseLg), keysOf(t, r), func(window [][]byte) []byte {
		builder := p.NewBuilder()
		for _, key := range window {
			builder.Add(userKey(key))
		}
		return builder.Finish(nil)
	})
}
