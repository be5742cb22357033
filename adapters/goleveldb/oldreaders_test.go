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
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// inTurn are policies that take turns at building, so that one table has filters of all of them.
// The first one reads them.
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

// forOldReader is a database of one table, and what a reader that only knows LevelDB's encoding
// must answer.
type forOldReader struct {
	dir, name string
	content   entries
	keys      [][]byte // present ones, then absent ones
	asked     uint64   // how often filters are asked for keys
	absent    uint64   // how often exact filters avoid a read
}

// onDatabasesForOldReaders runs a test on databases under both names, with filters of one kind or
// of all, for a window of 2 KiB or a whole table.
func onDatabasesForOldReaders(t *testing.T, test func(t *testing.T, d forOldReader)) {
	type contents struct {
		what  string
		p     policy.Policy
		kinds []policy.Encoding
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		var cases []contents
		mixed := contents{what: "all kinds in turn"}
		var turns inTurn
		for _, kind := range enginetest.Kinds {
			p := kind.MustNew(10, name)
			turns = append(turns, p)
			mixed.kinds = append(mixed.kinds, kind.Encoding)
			cases = append(cases, contents{kind.Name, p, []policy.Encoding{kind.Encoding}})
		}
		mixed.p = turns
		for _, c := range append(cases, mixed) {
			for _, baseLg := range []int{11, 21} {
				if len(c.kinds) > 1 && baseLg == 21 {
					continue // one filter cannot be of several kinds
				}
				t.Run(fmt.Sprintf("%s, %s, base %d", name, c.what, baseLg), func(t *testing.T) {
					test(t, newForOldReader(t, name, c.p, c.kinds, baseLg))
				})
			}
		}
	}
}

const oldReaderKeys = 2000

func newForOldReader(
	t *testing.T, name string, p policy.Policy, kinds []policy.Encoding, baseLg int,
) forOldReader {
	d := forOldReader{dir: t.TempDir(), name: name, content: entries{}}
	db := open(t, d.dir, &opt.Options{Filter: renamed{bareFilter(p), name}, FilterBaseLg: baseLg})
	d.content.fill(t, db, 61, oldReaderKeys)
	d.content.put(t, db, nil, []byte("of the empty key"))
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	for key := range d.content {
		d.keys = append(d.keys, []byte(key))
	}
	d.keys = append(d.keys, policytest.AbsentKeys(10)...)
	d.keys = append(d.keys, absentKeys(t, 62, oldReaderKeys)...)

	ours := bloom(t, 1, policy.WithName(name)) // reading needs no setting
	o := configured(t, &opt.Options{ReadOnly: true}, ours)
	var w enginetest.Watch
	watch(o, &w)
	db = open(t, d.dir, o)
	require.Zero(t, d.content.lost(t, db))
	for l, c := range w.Take() {
		d.asked += c.Checks()
		require.Zero(t, c.ReadsAvoided, "%v", l)
	}
	require.EqualValues(t, len(d.content), d.asked)
	requireAbsent(t, db, d.keys[len(d.content):])
	require.NoError(t, db.Close())
	answers := w.Take()
	require.Len(t, answers, len(kinds))
	for _, kind := range kinds {
		c := answers[enginetest.Label{Name: name, Encoding: kind}]
		d.asked += c.Checks()
		require.Greater(t, c.ReadsAvoided, c.Checks()*95/100, "%v", kind)
		require.Greater(t, c.Checks(), uint64(oldReaderKeys/5))
		if kind == policy.EncodingBloom {
			d.absent += c.ReadsAvoided
		}
	}
	return d
}

// bareFilter is goleveldb.New for policies that are not of one kind.
func bareFilter(p policy.Policy) filter.Filter { return goleveldb.New(p) }

// absentKeys returns random keys that are longer than those of fill.
func absentKeys(t testing.TB, seed int64, n int) [][]byte {
	keys := policytest.Keys(policytest.Rand(t, seed), n)
	for i := range keys {
		keys[i] = append(keys[i], "a suffix of more than 40 bytes that no other key has"...)
	}
	return keys
}

// goleveldb's own filter, under its own name and under LevelDB's, loses no key by filters whose
// encoding it does not know. Nor does C++ LevelDB.
func TestOldReaders(t *testing.T) {
	onDatabasesForOldReaders(t, func(t *testing.T, d forOldReader) {
		theirs := &tally{Filter: renamed{filter.NewBloomFilter(10), d.name}}
		db := open(t, d.dir, &opt.Options{Filter: theirs, ReadOnly: true})
		d.content.requireContent(t, db)
		requireAbsent(t, db, d.keys[len(d.content):])
		require.NoError(t, db.Close())
		require.Equal(t, policy.Counters{ReadsAvoided: d.absent, MayContain: d.asked - d.absent},
			theirs.Counters)

		t.Run("C++", func(t *testing.T) { // last: it may change the database
			found, asked, absent := buildCpp(t).read(t, d.dir, d.name, d.keys)
			require.Equal(t, d.content, found)
			require.EqualValues(t, d.asked, asked)
			require.EqualValues(t, d.absent, absent)
		})
	})
}

// C++ LevelDB reads databases of several tables, with goleveldb's own filters and those of all
// kinds.
func TestCppReadsKindsBesideOthers(t *testing.T) {
	program := buildCpp(t)
	const n = 1000
	dir := t.TempDir()
	content := entries{}
	var keys [][]byte
	write := func(o *opt.Options) {
		prefix := string(rune('a' + len(content)/n))
		db := open(t, dir, o)
		content.fillRange(t, db, prefix, n)
		require.NoError(t, db.Close())
		keys = append(keys, between(prefix, n)...)
	}
	write(&opt.Options{Filter: filter.NewBloomFilter(10)})
	for _, kind := range enginetest.Kinds {
		write(configured(t, nil, kind.MustNew(16, policy.NameGoLevelDB)))
	}
	write(configured(t, nil, bloom(t, 16, policy.WithName("unknown"))))
	for key := range content {
		keys = append(keys, []byte(key))
	}
	found, asked, absent := program.read(t, dir, policy.NameGoLevelDB, keys)
	require.Equal(t, content, found)
	// C++ LevelDB may compact while it reads, so the counts are not exact.
	require.Greater(t, asked, int64(2*n*len(enginetest.Kinds)))
	require.Greater(t, absent, int64(n))
	require.LessOrEqual(t, absent, int64(2*n), "the absent keys of the tables with exact filters")
}

// cppRun is a line of the table in testdata/goleveldb/README.md: what C++ LevelDB's filters
// answered.
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
	line := regexp.MustCompile(
		"(?m)^\\| `(\\w+)` \\| `([\\w.]+)` \\| `checks=(\\d+) absent=(\\d+)` \\|$")
	lines := line.FindAllStringSubmatch(string(readme), -1)
	require.GreaterOrEqual(t, len(lines), 3)
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

// C++ LevelDB answers as the README says.
func TestCppReadsStored(t *testing.T) {
	program := buildCpp(t)
	onCppRuns(t, func(t *testing.T, r cppRun) {
		found, asked, absent := program.read(t, r.dir, r.name, cppRunKeys())
		require.Equal(t, r.content, found)
		require.Equal(t, r.answers,
			policy.Counters{ReadsAvoided: uint64(absent), MayContain: uint64(asked - absent)})
	})
}

// goleveldb's own filter answers as C++ LevelDB's does. Ours is asked as often, loses no key, and
// avoids reads.
func TestGoReadsStored(t *testing.T) {
	onCppRuns(t, func(t *testing.T, r cppRun) {
		theirs := &tally{Filter: renamed{filter.NewBloomFilter(10), r.name}}
		ours := policy.Count(bloom(t, 10, policy.WithName(r.name)))
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
		stored := readTables(t, r.dir)
		require.Len(t, stored, 1)
		switch encoding := filterOnDisk(t, stored[0]).encoding; encoding {
		case policy.EncodingBloom:
			require.Equal(t, r.answers, ours.Snapshot())
		default:
			// 5,998 keys in the table's range were never written. The filter has the deleted ones.
			require.Greater(t, ours.Snapshot().ReadsAvoided, uint64(5998*985/1000))
		}
		for _, kind := range enginetest.Kinds {
			if kind.Encoding == filterOnDisk(t, stored[0]).encoding {
				requireStoredFilters(t, r.dir, kind.MustNew(10, r.name))
			}
		}
	})
}

// requireStoredFilters requires that the filters of a database's tables are those that p builds of
// their keys.
func requireStoredFilters(t *testing.T, dir string, p policy.Policy) {
	for _, data := range readTables(t, dir) {
		asked := &spy{Policy: p}
		r := openTable(t, data, goleveldb.TableOptions(&opt.Options{Filter: goleveldb.New(asked)}))
		defer r.Release()
		requireFilters(
			t,
			r,
			asked,
			int(filterOnDisk(t, data).baseLg),
			keysOf(t, r),
			func(window [][]byte) []byte {
				builder := p.NewBuilder()
				for _, key := range window {
					builder.Add(userKey(key))
				}
				return builder.Finish(nil)
			},
		)
	}
}
