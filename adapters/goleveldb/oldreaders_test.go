package goleveldb_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// inTurn are policies whose builders take turns, so that one table has filters of all. The first one reads them.
type inTurn []policy.Policy

func (p inTurn) Name() string                       { return p[0].Name() }
func (p inTurn) MayContain(filter, key []byte) bool { return p[0].MayContain(filter, key) }

func (p inTurn) NewBuilder() policy.Builder {
	var b inTurnBuilder
	for _, one := range p {
		b.all = append(b.all, one.NewBuilder())
	}
	b.Builder = b.all[0]
	return &b
}

type inTurnBuilder struct {
	policy.Builder // whose turn it is
	all            []policy.Builder
}

func (b *inTurnBuilder) Finish(dst []byte) []byte {
	dst = b.Builder.Finish(dst)
	b.all = append(b.all[1:], b.Builder)
	b.Builder = b.all[0]
	return dst
}

// forOldReader is a database of one table with filters in the reserved range, and what a reader that knows LevelDB's encoding
// alone has to answer.
type forOldReader struct {
	dir, name string
	content   entries
	keys      [][]byte // present ones, and absent ones
	asked     uint64   // how often filters are asked for keys
	absent    uint64   // how often exact filters are, and say "absent"
}

// onDatabasesForOldReaders runs a test on databases under both names, with filters of few keys and of many, of one kind and of
// all.
func onDatabasesForOldReaders(t *testing.T, test func(t *testing.T, d forOldReader)) {
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		named := policy.WithName(name)
		for _, c := range []struct {
			what   string
			p      policy.Policy
			baseLg int
			kinds  []byte // of the filters, by their last byte
		}{
			{"blocked", blocked(t, 10, named), 11, []byte{blockedEncoding}},
			{"blocked, 20 bits", blocked(t, 20, named), 13, []byte{blockedEncoding}},
			{"blocked, one filter of many lines", blocked(t, 10, named), 21, []byte{blockedEncoding}},
			{"binary fuse, for few keys blocked", fuse(t, 11.6, named), 16, []byte{blockedEncoding, fuseEncoding}},
			{"binary fuse, 8 bits", fuse(t, 11.6, named), 21, []byte{fuseEncoding}},
			{"binary fuse, 12 bits", fuse(t, 18, named), 21, []byte{fuseEncoding}},
			{"binary fuse, 16 bits", fuse(t, 26, named), 21, []byte{fuseEncoding}},
			{"blocked and exact in turn", inTurn{blocked(t, 10, named), bloom(t, 10, named)}, 11, []byte{blockedEncoding, 6}},
			{
				"all encodings in turn", inTurn{fuse(t, 26, named), bloom(t, 10, named), blocked(t, 10, named)}, 16,
				[]byte{fuseEncoding, 6, blockedEncoding},
			},
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
				for kind, c := range w {
					d.asked += c.Checks()
					require.Zero(t, c.ReadsAvoided, "%#x", kind)
				}
				require.EqualValues(t, len(d.content), d.asked)
				clear(w)
				requireAbsent(t, db, d.keys[len(d.content):])
				require.NoError(t, db.Close())
				require.ElementsMatch(t, c.kinds, slices.Collect(maps.Keys(w)))
				for kind, c := range w {
					d.asked += c.Checks()
					require.Greater(t, c.Checks(), uint64(5000/5))
					require.Greater(t, c.ReadsAvoided, c.Checks()*97/100, "our own reader is spared reads")
					if kind != blockedEncoding && kind != fuseEncoding {
						d.absent += c.ReadsAvoided
					}
				}
				require.Greater(t, d.asked, uint64(len(d.keys)-100), "few random keys are outside of the table's range")
				test(t, d)
			})
		}
	}
}

// goleveldb's own filter, under its own name and under LevelDB's, loses no key of filters that it does not know.
func TestGoLevelDBReadsUnknown(t *testing.T) {
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
func TestCppReadsUnknown(t *testing.T) {
	program := buildCpp(t)
	onDatabasesForOldReaders(t, func(t *testing.T, d forOldReader) {
		found, asked, absent := program.read(t, d.dir, d.name, d.keys)
		require.Equal(t, d.content, found)
		require.EqualValues(t, d.asked, asked)
		require.EqualValues(t, d.absent, absent)
	})
}

// C++ LevelDB reads databases of several tables, with goleveldb's own filters and those of all encodings.
func TestCppReadsUnknownBesideOthers(t *testing.T) {
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
		"e": configured(t, &opt.Options{FilterBaseLg: 21}, fuse(t, 26, named)),
	} {
		db := open(t, dir, o)
		content.fillRange(t, db, prefix, n)
		require.NoError(t, db.Close())
		keys = append(keys, between(prefix, n, 1)...)
	}
	require.Positive(t, filtersOnDisk(t, dir)[diskFilter{policy.NameGoLevelDB, fuseEncoding, 21}])
	for key := range content {
		keys = append(keys, []byte(key))
	}
	found, asked, absent := program.read(t, dir, policy.NameGoLevelDB, keys)
	require.Equal(t, content, found)
	// C++ LevelDB may compact while it reads; then less is known of the counts.
	require.Greater(t, asked, int64(7*n))
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
	require.Len(t, lines, 4)
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
		named := policy.WithName(r.name)
		stored := readTables(t, r.dir)
		require.Len(t, stored, 1)
		kind := filterOnDisk(t, stored[0]).k
		p := map[byte]policy.Policy{
			6: bloom(t, 10, named), blockedEncoding: blocked(t, 10, named), fuseEncoding: fuse(t, 11, named),
		}[kind]
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
		requireStoredFilters(t, r.dir, p)
		// 5,998 keys in the table's range were never written. Deleted ones are in the filter.
		never := ours.Snapshot()
		never.MayContain = 5998 - never.ReadsAvoided
		switch kind {
		case blockedEncoding:
			require.Greater(t, never.ReadsAvoided, uint64(5998*985/1000))
		case fuseEncoding:
			requireFalsePositives(t, 8, never)
		default:
			require.Equal(t, r.answers, ours.Snapshot())
		}
	})
}

// requireStoredFilters checks that the filters of a database's tables are those that p makes of their keys.
func requireStoredFilters(t *testing.T, dir string, p policy.Policy) {
	for _, data := range readTables(t, dir) {
		asked := &spy{Policy: p}
		r := openTable(t, data, goleveldb.TableOptions(&opt.Options{Filter: goleveldb.New(asked)}))
		defer r.Release()
		requireFilters(t, r, asked, int(filterOnDisk(t, data).baseLg), keysOf(t, r), func(window [][]byte) []byte {
			builder := p.NewBuilder()
			for _, key := range window {
				builder.Add(userKey(key))
			}
			return builder.Finish(nil)
		})
	}
}
