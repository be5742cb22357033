package goleveldb_test

import (
	"bytes"
	"fmt"
	"math"
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

// The last bytes of filters that LevelDB does not make; of its own it is k, floor(0.69 * bits per key).
const (
	blockedEncoding = 0x42
	fuseEncoding    = 0x46
)

func blocked(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.BlockedBloom {
	p, err := policy.NewBlockedBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// fuse returns a policy that makes binary fuse filters of many keys, at 11.6, 18 or 26 bits per key of 2,000 and more, and blocked
// ones of few.
func fuse(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.BinaryFuse {
	p, err := policy.NewBinaryFuse(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

// encoded is what the policies of package policy have in common.
type encoded interface {
	policy.Policy
	AppendFilter(dst []byte, keys [][]byte) []byte
}

// eachEncoding returns a policy of each encoding.
func eachEncoding(t testing.TB, opts ...policy.Option) []encoded {
	return []encoded{bloom(t, 16, opts...), blocked(t, 10, opts...), fuse(t, 11.6, opts...)}
}

// requireFalsePositives requires that of the checks of absent keys, in binary fuse filters with fingerprints of so many bits,
// the share passed that theory says, within 5 standard errors and one key.
func requireFalsePositives(t testing.TB, fingerprint int, absent policy.Counters) {
	rate := math.Exp2(-float64(fingerprint))
	want := rate * float64(absent.Checks())
	require.InDelta(t, want, float64(absent.MayContain), 5*math.Sqrt(want*(1-rate))+1, "of %d checks", absent.Checks())
}

// witness tells what filters were asked and answered, by their last byte: k, or the encoding.
type witness map[byte]policy.Counters

// watch puts a witness before all filters of o, for one goroutine.
func watch(o *opt.Options) witness {
	w := witness{}
	w.watch(o)
	return w
}

func (w witness) watch(o *opt.Options) {
	if o.Filter != nil {
		o.Filter = watched{o.Filter, w}
	}
	o.AltFilters = slices.Clone(o.AltFilters)
	for i, f := range o.AltFilters {
		o.AltFilters[i] = watched{f, w}
	}
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

// between returns absent keys, so many after each of the n that fillRange wrote.
func between(prefix string, n, each int) (keys [][]byte) {
	for i := range n * each {
		keys = append(keys, fmt.Appendf(nil, "%s%06d-%d", prefix, i/each, i%each))
	}
	return keys
}

// One database goes from goleveldb's own filters to exact ones, to blocked ones, to binary fuse ones, and to and fro, with the
// same names or others. All the time every key is found, each table's filters are asked, and those that its reader knows avoid
// reads. Then it goes back to the plain engine.
func TestEncodingsBesideOthers(t *testing.T) {
	const few, many, each = 400, 2000, 2
	const theirK, exactK = 6, 11
	for _, c := range []struct{ name, exact, blocked, fuse string }{
		{"all under goleveldb's name", policy.NameGoLevelDB, policy.NameGoLevelDB, policy.NameGoLevelDB},
		{"ours under LevelDB's name", policy.Name, policy.Name, policy.Name},
		{"each under its own", "mine", "another", "a third"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			content := entries{}
			var absent [][]byte
			kinds := []byte{exactK, blockedEncoding, fuseEncoding}
			policies := map[byte]policy.Policy{
				exactK:          bloom(t, 16, policy.WithName(c.exact)),
				blockedEncoding: blocked(t, 10, policy.WithName(c.blocked)),
				fuseEncoding:    fuse(t, 11.6, policy.WithName(c.fuse)),
			}
			plain := func() *opt.Options {
				o := smallTables()
				o.CompactionTableSize = 64 << 10 // room for all keys of a prefix
				o.Filter = filter.NewBloomFilter(10)
				return o
			}
			// to returns the options of who goes over to a kind of filter, and may have had all others. The plain engine
			// does not know filters under other names.
			to := func(kind byte) *opt.Options {
				o := plain()
				if kind == theirK {
					return o
				}
				for _, k := range append(kinds, kind) {
					configured(t, o, policies[k])
				}
				if kind == fuseEncoding {
					o.FilterBaseLg = 21 // one filter for a table
				}
				return o
			}

			want := witness{}
			for i, kind := range []byte{
				theirK, exactK, blockedEncoding, fuseEncoding, exactK, fuseEncoding, blockedEncoding, theirK, fuseEncoding,
			} {
				prefix, n := string(rune('a'+i)), few
				if kind == fuseEncoding {
					n = many
				}
				db := open(t, dir, to(kind))
				content.fillRange(t, db, prefix, n)
				require.Zero(t, content.lost(t, db))
				require.NoError(t, db.Close())
				absent = append(absent, between(prefix, n, each)...)
				w := want[kind]
				w.MayContain += uint64(n)
				want[kind] = w
			}
			for _, kind := range kinds {
				o := to(kind)
				o.ReadOnly = true
				w := watch(o)
				db := open(t, dir, o)
				content.requireContent(t, db)
				require.Equal(t, want, w, "each key is asked in its table alone, and answered rightly")
				clear(w)
				requireAbsent(t, db, absent)
				for last, present := range want {
					require.Greater(t, w[last].Checks(), present.MayContain*each*95/100)
					require.Greater(t, w[last].ReadsAvoided, w[last].Checks()*3/4, "windows of few keys in sequence")
				}
				require.Greater(t, w[blockedEncoding].ReadsAvoided, w[blockedEncoding].Checks()*97/100)
				requireFalsePositives(t, 8, w[fuseEncoding])
				require.NoError(t, db.Close())
			}

			// Compactions merge the tables of all kinds, Rewrite replaces them, and both write what the setting says.
			absent = absent[len(absent)-many:]
			for _, kind := range kinds[1:] {
				db := open(t, dir, to(kind))
				for key := range content {
					content.put(t, db, []byte(key), []byte("again "+key))
				}
				require.NoError(t, db.CompactRange(util.Range{}))
				content.requireContent(t, db)
				requireAbsent(t, db, absent)
				rewrite(t, db)
				content.requireContent(t, db)
				require.NoError(t, db.Close())
				require.NoError(t, open(t, dir, to(kind)).Close()) // removes the files that are no longer used
				requireStoredFilters(t, dir, policies[kind])
				p := policies[kind].Name()
				require.Positive(t, filtersOnDisk(t, dir)[diskFilter{p, kind, byte(to(kind).GetFilterBaseLg())}])
			}

			// Back to the plain engine: it answers "may contain", or does not ask. Rewrite makes all filters its own.
			back := plain()
			theirs := watch(back)
			db := open(t, dir, back)
			content.requireContent(t, db)
			requireAbsent(t, db, absent)
			if c.fuse == policy.NameGoLevelDB {
				require.Positive(t, theirs[fuseEncoding].MayContain)
				require.Zero(t, theirs[fuseEncoding].ReadsAvoided)
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

// Tables made without a database: filters of few keys, and of many.
func TestEncodedTable(t *testing.T) {
	all := randomKeys(seeded(t, 60), 12_000)
	present, absent := all[:4000], all[4000:]
	slices.SortFunc(present, bytes.Compare)
	for _, c := range []struct {
		name        string
		p           encoded
		last        byte // of filters of many keys; those of a few dozen are blocked
		fingerprint int
	}{
		{"blocked", blocked(t, 10), blockedEncoding, 0},
		{"binary fuse, 8 bits", fuse(t, 11.6), fuseEncoding, 8},
		{"binary fuse, 12 bits", fuse(t, 18), fuseEncoding, 12},
		{"binary fuse, 16 bits", fuse(t, 26), fuseEncoding, 16},
	} {
		for _, baseLg := range []int{11, 17, 21} {
			t.Run(fmt.Sprintf("%s, base %d", c.name, baseLg), func(t *testing.T) {
				asked := &spy{Policy: c.p}
				o := configured(t, &opt.Options{FilterBaseLg: baseLg}, asked)
				w := watch(o)
				var file bytes.Buffer
				writer := table.NewWriter(&file, o, nil, 0)
				for i, key := range present {
					require.NoError(t, writer.Append(key, fmt.Appendf(nil, "value %d", i)))
				}
				require.NoError(t, writer.Close())

				r := openTable(t, file.Bytes(), o)
				defer r.Release()
				requireFilters(t, r, asked, baseLg, present, func(window [][]byte) []byte { return c.p.AppendFilter(nil, window) })
				switch baseLg {
				case 11:
					require.Equal(t, witness{blockedEncoding: {MayContain: 4000}}, w)
				case 17: // the last window has few keys
					require.Greater(t, w[c.last].MayContain, uint64(2000))
				case 21:
					require.Equal(t, witness{c.last: {MayContain: 4000}}, w)
				}
				clear(w)
				avoided := 0
				for _, key := range absent {
					if _, _, err := r.Find(key, true, nil); err == table.ErrNotFound {
						avoided++
					}
				}
				require.Greater(t, avoided, len(absent)*97/100)
				if c.fingerprint < 12 {
					require.Less(t, avoided, len(absent), "so few bits cannot avoid all")
				}
				if baseLg == 21 && c.last == fuseEncoding {
					require.EqualValues(t, len(absent), w[c.last].Checks())
					requireFalsePositives(t, c.fingerprint, w[c.last])
				}

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
}

// renamed is a filter under another name.
type renamed struct {
	filter.Filter
	name string
}

func (r renamed) Name() string { return r.name }

// The encodings of package policy may share a name, and goleveldb's own filter may have had it. Others may not.
func TestConfigureEncodings(t *testing.T) {
	type change struct {
		what   string
		former filter.Filter
		p      policy.Policy
		fault  string // "" if it is allowed
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB, "mine"} {
		var changes []change
		for i, p := range eachEncoding(t, policy.WithName(name)) {
			who := fmt.Sprintf("%T", p)
			changes = append(changes,
				change{"nothing before " + who, nil, p, ""},
				change{who + " after goleveldb's own", filter.NewBloomFilter(10), p, ""},
				change{who + " after a stranger's", foreign(name), p, "policy.WithName"},
				change{"other keys after " + who, goleveldb.New(p), backwardsPolicy{p}, "policy.WithName"},
				change{"a reader that knows none after " + who, goleveldb.New(p), gullible{backwardsPolicy{p}}, "policy.WithName"},
			)
			for j, q := range append(eachEncoding(t, policy.WithName(name)), fuse(t, 20, policy.WithName(name))) {
				what := fmt.Sprintf("%s after %T", who, q)
				changes = append(changes,
					change{what, goleveldb.New(q), p, ""},
					change{what + ", counted", goleveldb.New(policy.Count(q)), policy.Count(p), ""},
				)
				if i != j {
					changes = append(changes, change{what + " of other keys", goleveldb.New(backwardsPolicy{q}), p, "policy.WithName"})
				}
			}
		}
		for _, c := range changes {
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
	for _, none := range []policy.Policy{(*policy.BlockedBloom)(nil), (*policy.BinaryFuse)(nil)} {
		require.ErrorContains(t, goleveldb.Configure(&opt.Options{}, none), "nil policy")
		require.Panics(t, func() { goleveldb.New(none) })
	}
}
