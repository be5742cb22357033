package goleveldb_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// oneTable is a database of one table, for readers that know LevelDB's encoding alone.
type oneTable struct {
	dir, name string // name is that of its policy
	content   entries
	absent    [][]byte // keys to look up too
}

// fillOneTable writes a database with p, whose window is 2^baseLg bytes.
func fillOneTable(t *testing.T, p policy.Policy, baseLg int) oneTable {
	d := oneTable{t.TempDir(), p.Name(), entries{}, longKeys(t, 62, 5000)}
	db := open(t, d.dir, &opt.Options{Filter: goleveldb.New(p), FilterBaseLg: baseLg})
	d.content.fill(t, db, 61, 5000)
	d.content.put(t, db, nil, []byte("of the empty key"))
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	return d
}

// longKeys returns random keys that are longer than those of fill.
func longKeys(t testing.TB, seed int64, n int) [][]byte {
	keys := enginetest.Keys(enginetest.Rand(t, seed), n)
	for i := range keys {
		keys[i] = append(keys[i], "a suffix of more than 40 bytes that no other key has"...)
	}
	return keys
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
func (d oneTable) read(
	t *testing.T,
) (ours map[enginetest.Label]policy.Counters, theirs policy.Counters) {
	look := func(o *opt.Options) map[enginetest.Label]policy.Counters {
		var w enginetest.Watch
		watch(o, &w)
		o.ReadOnly = true
		db := open(t, d.dir, o)
		require.Equal(t, d.content, contentOf(t, db))
		require.Zero(t, d.content.lost(t, db))
		require.Equal(t, policy.Counters{MayContain: uint64(len(d.content))}, total(w.Take()))
		requireAbsent(t, db, d.absent)
		require.NoError(t, db.Close())
		return w.Take()
	}
	// Reading needs no setting: 1 bit per key reads all.
	ours = look(configured(t, nil, bloom(t, 1, policy.WithName(d.name))))
	theirs = total(look(&opt.Options{Filter: renamed{filter.NewBloomFilter(10), d.name}}))
	require.Equal(t, enginetest.Checks(total(ours)), enginetest.Checks(theirs))

	t.Run("C++", func(t *testing.T) { // last: it may change the database
		program := buildCpp(t)
		keys := append(d.content.keys(), d.absent...)
		requireAnswers := func(want policy.Counters, reader ...string) {
			found, answers := program.read(t, d.dir, d.name, keys, reader...)
			require.Equal(t, d.content, found)
			answers.MayContain -= uint64(len(d.content))
			require.Equal(t, want, answers)
		}
		requireAnswers(theirs)
		requireAnswers(total(ours), "ours")
	})
	return ours, theirs
}

// total adds up answers.
func total(answers map[enginetest.Label]policy.Counters) (sum policy.Counters) {
	for _, c := range answers {
		sum.ReadsAvoided += c.ReadsAvoided
		sum.MayContain += c.MayContain
	}
	return sum
}

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

// goleveldb's own filter and C++ LevelDB lose no key by filters of any kind, under both names, for
// a window of 2 KiB or a whole table, and avoid reads by the Bloom filters.
func TestOldReaders(t *testing.T) {
	test := func(p policy.Policy, baseLg int, kinds ...enginetest.Kind) {
		t.Run(fmt.Sprintf("%s, %v, base %d", p.Name(), kinds, baseLg), func(t *testing.T) {
			ours, theirs := fillOneTable(t, p, baseLg).read(t)
			require.Len(t, ours, len(kinds))
			exact := uint64(0)
			for _, kind := range kinds {
				c := ours[enginetest.Label{Name: p.Name(), Encoding: kind.Encoding}]
				falsePositives := float64(c.MayContain) / float64(enginetest.Checks(c))
				require.Less(t, falsePositives, 0.02)
				if kind.Encoding == policy.EncodingBloom { // 1 % is expected
					require.Greater(t, falsePositives, 0.005)
					exact = c.ReadsAvoided
				}
			}
			require.Equal(t, exact, theirs.ReadsAvoided)
		})
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		var all inTurn
		for _, kind := range enginetest.Kinds {
			p := kind.MustNew(10, name)
			all = append(all, p)
			test(p, 11, kind)
			test(p, 21, kind)
		}
		test(all, 11, enginetest.Kinds...)
	}
	test(bloom(t, 9.5), 13, enginetest.Kinds[0])
}

// Ours and goleveldb's own filter read what C++ LevelDB writes, under both names, and answer as it
// does.
func TestCppWrites(t *testing.T) {
	program := buildCpp(t)
	for _, name := range []string{policy.Name, policy.NameGoLevelDB} {
		t.Run(name, func(t *testing.T) {
			d := oneTable{filepath.Join(t.TempDir(), "db"), name,
				entries{"": "of the empty key"}, longKeys(t, 13, 5000)}
			for i, key := range enginetest.Keys(enginetest.Rand(t, 15), 5000) {
				d.content[string(key)] = fmt.Sprint("value ", i)
			}
			program.write(t, d.dir, name, 10, d.content)
			ours, theirs := d.read(t)
			require.Equal(t, total(ours), theirs)
			require.Greater(t, theirs.ReadsAvoided, uint64(4800))
		})
	}
}
