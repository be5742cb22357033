package goleveldb_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
)

// blockedEncoding is the last byte of blocked Bloom filters, where LevelDB's have k.
const blockedEncoding = 0x42

func blocked(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.BlockedBloom {
	p, err := policy.NewBlockedBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// witness tells what filters were asked and answered, by their last byte: k, or the encoding.
type witness map[byte]policy.Counters

// watch puts a witness before all filters of o, for one goroutine.
func watch(o *opt.Options) witness {
	w := witness{}
	if o.Filter != nil {
		o.Filter = watched{o.Filter, w}
	}
	o.AltFilters = slices.Clone(o.AltFilters)
	for i, f := range o.AltFilters {
		o.AltFilters[i] = watched{f, w}
	}
	return w
}

type watched struct {
	filter.Filter
	witness witness
}

func (w watched) Contains(filter, key []byte) bool {
	answer := w.Filter.Contains(filter, key)
	c := w.witness[filter[len(filter)-1]]
	if answer {
		c.MayContain++
	} else {
		c.ReadsAvoided++
	}
	w.witness[filter[len(filter)-1]] = c
	return answer
}

// requireAbsent checks that a database has none of the given keys.
func requireAbsent(t testing.TB, db *leveldb.DB, keys [][]byte) {
	for _, key := range keys {
		_, err := db.Get(key, nil)
		require.ErrorIs(t, err, leveldb.ErrNotFound, "key %x", key)
	}
}

// between returns absent keys, one after each that fillRange wrote.
func between(prefix string, n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "%s%06d-", prefix, i))
	}
	return keys
}

// One database goes from goleveldb's own filters to exact ones, to blocked ones, and to and fro, with the same names or
// others. All the time every key is found, each table's filters are asked, and those that its reader knows avoid reads.
// Then it goes back to the plain engine.
func TestBlockedBesideOthers(t *testing.T) {
	const n = 600
	for _, c := range []struct{ name, exact, blocked string }{
		{"all under goleveldb's name", policy.NameGoLevelDB, policy.NameGoLevelDB},
		{"ours under LevelDB's name", policy.Name, policy.Name},
		{"each under its own", "mine", "another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			content := entries{}
			var absent [][]byte
			plain := func() *opt.Options {
				o := smallTables()
				o.Filter = filter.NewBloomFilter(10)
				return o
			}
			exact, theBlocked := bloom(t, 16, policy.WithName(c.exact)), blocked(t, 10, policy.WithName(c.blocked))
			toExact := func() *opt.Options { return configured(t, configured(t, plain(), theBlocked), exact) }
			toBlocked := func() *opt.Options { return configured(t, configured(t, plain(), exact), theBlocked) }

			// k is floor(0.69 * bits per key). The plain engine does not know filters under other names.
			const theirK, exactK = 6, 11
			want := witness{}
			for _, s := range []struct {
				prefix  string
				last    byte // of the filters
				options func() *opt.Options
			}{
				{"a", theirK, plain}, {"b", exactK, toExact}, {"c", blockedEncoding, toBlocked},
				{"d", exactK, toExact}, {"e", blockedEncoding, toBlocked}, {"f", theirK, plain}, {"g", blockedEncoding, toBlocked},
			} {
				db := open(t, dir, s.options())
				content.fillRange(t, db, s.prefix, n)
				require.Zero(t, content.lost(t, db))
				require.NoError(t, db.Close())
				absent = append(absent, between(s.prefix, n)...)
				w := want[s.last]
				w.MayContain += n
				want[s.last] = w
			}
			for _, options := range []func() *opt.Options{toExact, toBlocked} {
				o := options()
				o.ReadOnly = true
				w := watch(o)
				db := open(t, dir, o)
				content.requireContent(t, db)
				require.Equal(t, want, w, "each key is asked in its table alone, and answered rightly")
				clear(w)
				requireAbsent(t, db, absent)
				for last, present := range want {
					require.Greater(t, w[last].Checks(), present.MayContain*95/100)
					require.Greater(t, w[last].ReadsAvoided, w[last].Checks()*3/4, "windows of few keys in sequence")
				}
				require.Greater(t, w[blockedEncoding].ReadsAvoided, w[blockedEncoding].Checks()*97/100)
				require.NoError(t, db.Close())
			}

			// Compactions merge the tables of all kinds, and write what the setting says.
			db := open(t, dir, toBlocked())
			for key := range content {
				content.put(t, db, []byte(key), []byte("again "+key))
			}
			require.NoError(t, db.CompactRange(util.Range{}))
			content.requireContent(t, db)
			requireAbsent(t, db, absent)
			rewrite(t, db)
			content.requireContent(t, db)
			require.NoError(t, db.Close())
			require.NoError(t, open(t, dir, toBlocked()).Close()) // removes the files that are no longer used
			require.Equal(t, map[diskFilter]int{{c.blocked, blockedEncoding, 11}: len(readTables(t, dir))}, filtersOnDisk(t, dir))

			// Back to the plain engine: it answers "may contain", or does not ask. Rewrite makes all filters its own.
			back := plain()
			theirs := watch(back)
			db = open(t, dir, back)
			content.requireContent(t, db)
			requireAbsent(t, db, absent)
			if c.blocked == policy.NameGoLevelDB {
				require.Positive(t, theirs[blockedEncoding].MayContain)
				require.Zero(t, theirs[blockedEncoding].ReadsAvoided)
			} else {
				require.Empty(t, theirs)
			}
			rewrite(t, db)
			content.requireContent(t, db)
			requireAbsent(t, db, absent)
			require.NoError(t, db.Close())
			require.NoError(t, open(t, dir, plain()).Close())
			require.Equal(t, map[diskFilter]int{{policy.NameGoLevelDB, theirK, 11}: len(readTables(t, dir))}, filtersOnDisk(t, dir))
			db = open(t, dir, smallTables()) // without any filter
			content.requireContent(t, db)
			require.NoError(t, db.Close())
		})
	}
}

// Tables made without a database: filters of one line, and of many.
func TestBlockedTable(t *testing.T) {
	all := randomKeys(seeded(t, 60), 8000)
	present, absent := all[:4000], all[4000:]
	slices.SortFunc(present, bytes.Compare)
	for _, baseLg := range []int{11, 16, 21} {
		t.Run(fmt.Sprint("base ", baseLg), func(t *testing.T) {
			p := blocked(t, 10)
			asked := &spy{Policy: p}
			o := configured(t, &opt.Options{FilterBaseLg: baseLg}, asked)
			var file bytes.Buffer
			w := table.NewWriter(&file, o, nil, 0)
			for i, key := range present {
				require.NoError(t, w.Append(key, fmt.Appendf(nil, "value %d", i)))
			}
			require.NoError(t, w.Close())

			r := openTable(t, file.Bytes(), o)
			defer r.Release()
			requireFilters(t, r, asked, baseLg, present, func(window [][]byte) []byte { return p.AppendFilter(nil, window) })
			require.EqualValues(t, len(present), asked.asked.Load())
			require.Zero(t, asked.absent.Load())
			avoided := 0
			for _, key := range absent {
				if _, _, err := r.Find(key, true, nil); err == table.ErrNotFound {
					avoided++
				}
			}
			require.Greater(t, avoided, len(absent)*97/100)
			require.Less(t, avoided, len(absent), "so few bits cannot avoid all")

			// Whoever knows LevelDB's encoding alone finds every key, and is spared nothing.
			theirs := &tally{Filter: renamed{filter.NewBloomFilter(10), policy.Name}}
			old := openTable(t, file.Bytes(), &opt.Options{Filter: theirs})
			defer old.Release()
			for _, key := range present {
				found, _, err := old.Find(key, true, nil)
				require.NoError(t, err)
				require.Equal(t, key, found)
			}
			require.Equal(t, policy.Counters{MayContain: uint64(len(present))}, theirs.Counters)
		})
	}
}

// renamed is a filter under another name.
type renamed struct {
	filter.Filter
	name string
}

func (r renamed) Name() string { return r.name }

// The encodings of package policy may share a name, and goleveldb's own filter may have had it. Others may not.
func TestConfigureBlocked(t *testing.T) {
	for _, name := range []string{policy.Name, policy.NameGoLevelDB, "mine"} {
		exact, block := bloom(t, 16, policy.WithName(name)), blocked(t, 10, policy.WithName(name))
		for _, c := range []struct {
			what   string
			former filter.Filter
			p      policy.Policy
			fault  string // "" if it is allowed
		}{
			{"nothing before", nil, block, ""},
			{"after exact ones", goleveldb.New(exact), block, ""},
			{"after blocked ones", goleveldb.New(block), exact, ""},
			{"after other bits", goleveldb.New(blocked(t, 20, policy.WithName(name))), block, ""},
			{"counted", goleveldb.New(policy.Count(exact)), policy.Count(block), ""},
			{"after goleveldb's own", filter.NewBloomFilter(10), block, ""},
			{"a stranger's", foreign(name), block, "policy.WithName"},
			{"other keys in exact filters", goleveldb.New(backwardsPolicy{exact}), block, "policy.WithName"},
			{"other keys in blocked filters", goleveldb.New(block), backwardsPolicy{block}, "policy.WithName"},
			{"a reader that knows neither", goleveldb.New(block), gullible{backwardsPolicy{block}}, "policy.WithName"},
		} {
			for where, o := range map[string]*opt.Options{
				"as Filter": {Filter: c.former}, "among AltFilters": {AltFilters: []filter.Filter{foreign("a"), c.former}},
			} {
				if c.former == nil {
					o.AltFilters = nil
				}
				before := *o
				err := goleveldb.Configure(o, c.p)
				if c.fault != "" {
					require.ErrorContains(t, err, c.fault, "%s, %s, %s", name, c.what, where)
					require.Equal(t, before, *o)
					continue
				}
				require.NoError(t, err, "%s, %s, %s", name, c.what, where)
				require.Equal(t, name, o.Filter.Name())
				for _, f := range o.AltFilters {
					require.NotEqual(t, name, f.Name())
				}
			}
		}
	}
	var none *policy.BlockedBloom
	require.ErrorContains(t, goleveldb.Configure(&opt.Options{}, none), "nil policy")
	require.Panics(t, func() { goleveldb.New(none) })
}
