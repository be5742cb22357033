package pebblev1_test

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
	engine "github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

// blockedEncoding is the last byte of blocked Bloom filters, where LevelDB's have k.
const blockedEncoding = 0x42

func blocked(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.BlockedBloom {
	p, err := policy.NewBlockedBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}

func oursBlocked(name string) setting {
	return setting{func(t testing.TB, o *pebble.Options) {
		configured(t, o, blocked(t, 10, policy.WithName(name)), pebblev1.WithL6())
	}, label(name, blockedEncoding)}
}

// Tables of every format have blocked filters: of one line, and of many, and of no keys.
func TestBlockedTableBuilder(t *testing.T) {
	all := randomKeys(seeded(t, 110), 3000)
	absent := all[2000:]
	for _, format := range tableFormats() {
		for _, n := range []int{1, 500, 2000} {
			t.Run(fmt.Sprintf("%s, %d keys", format, n), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "table")
				present := sorted(all[:n])
				p := blocked(t, 10)
				writeTable(t, path, format, pebblev1.New(p), present)
				s, filter := capture(bloom(t, 16)) // the name decides; reading needs no setting
				filters := map[string]pebble.FilterPolicy{s.Name(): pebblev1.New(s)}
				require.Zero(t, lostInTable(t, path, filters, present))
				require.EqualValues(t, n, s.asked.Load())
				require.Zero(t, s.absent.Load())
				require.Equal(t, p.AppendFilter(nil, present), *filter)
				require.EqualValues(t, blockedEncoding, (*filter)[len(*filter)-1])
				require.Equal(t, len(absent), lostInTable(t, path, filters, absent))
				require.Greater(t, s.absent.Load(), int64(970), "of 1000 absent keys")
				s.lies = true
				require.Equal(t, n, lostInTable(t, path, filters, present), "this test would notice lost keys")
			})
		}
		t.Run(format.String()+", no keys", func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			writeTable(t, path, format, pebblev1.New(blocked(t, 10)), nil, [2]string{"b", "c"})
			s, filter := capture(blocked(t, 10))
			require.Equal(t, 1, lostInTable(t, path, map[string]pebble.FilterPolicy{s.Name(): pebblev1.New(s)}, [][]byte{[]byte("b")}))
			require.Empty(t, *filter)
			require.EqualValues(t, 1, s.asked.Load())
			require.EqualValues(t, 1, s.absent.Load())
		})
	}
}

// dbDir is the directory of a database in memory.
const dbDir = "db"

// inMemory runs a test for every format, on a database in memory.
func inMemory(t *testing.T, test func(t *testing.T, options func() *pebble.Options)) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			fs := vfs.NewMem()
			test(t, func() *pebble.Options {
				o := small(format)
				o.FS = fs
				return o
			})
		})
	}
}

// storedOptions returns the newest options file of a database.
func storedOptions(t testing.TB, fs vfs.FS) string {
	names, err := fs.List(dbDir)
	require.NoError(t, err)
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "OPTIONS-") })
	file, err := fs.Open(fs.PathJoin(dbDir, slices.Max(names)))
	require.NoError(t, err)
	defer file.Close()
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	return string(text)
}

// One database goes from Pebble's own filters to exact ones, to blocked ones, and to and fro, under one name or under two.
// All the time every key is found, each table's filters are asked, and they avoid reads. Then it goes back to the plain
// engine.
func TestBlockedBesideOthers(t *testing.T) {
	for _, name := range []string{policy.Name, "mine"} {
		inMemory(t, func(t *testing.T, options func() *pebble.Options) {
			const n = 150
			steps := []setting{
				engineSetting, ours(10, 6, policy.Name), oursBlocked(name), ours(10, 6, policy.Name), oursBlocked(name), engineSetting,
			}
			all := randomKeys(seeded(t, 111), n*(len(steps)+3))
			present, absent := all[:n*len(steps)], all[n*(len(steps)+1):]
			late := all[n*len(steps) : n*(len(steps)+1)]
			labels := []string{engineName, label(policy.Name, 6), label(name, blockedEncoding)}

			// A table for each step: tables rest in L0, and a key is sought in all of them.
			var o *pebble.Options
			for i, s := range steps {
				o = resting(options())
				steps[0].configure(t, o) // as a program whose options have the engine's own: what comes is added
				if i > 0 && s.label != engineName {
					steps[1].configure(t, o)
					s.configure(t, o)
				}
				db := open(t, dbDir, o)
				put(t, db, present[i*n:(i+1)*n])
				require.NoError(t, db.Close())
			}
			for _, now := range []setting{steps[1], steps[2]} {
				o = resting(options())
				for _, s := range []setting{steps[0], steps[2], steps[1], now} {
					s.configure(t, o)
				}
				w := watch(o)
				db := open(t, dbDir, o)
				require.Equal(t, len(slices.Compact([]string{policy.Name, name})), len(tables(t, db)[0])-1)
				askEverything(t, db, present)
				asked := w.questions()
				require.Len(t, asked, len(labels))
				for _, l := range labels {
					require.GreaterOrEqual(t, asked[l], 2*2*n, "%s: two tables, by Get and by SeekPrefixGE", l)
				}
				before := db.Metrics().Filter
				require.Equal(t, len(absent), lostByGet(t, db, absent))
				m := db.Metrics().Filter
				avoided, asks := m.Hits-before.Hits, m.Hits+m.Misses-before.Hits-before.Misses
				require.Greater(t, avoided, asks*8/10, "of %d", asks)
				require.NoError(t, db.Close())
			}

			// Compactions write what the setting says.
			o = options()
			steps[1].configure(t, o)
			steps[2].configure(t, o)
			db := open(t, dbDir, o)
			put(t, db, late)
			compact(t, db)
			require.Equal(t, []string{name}, slices.Compact(slices.Concat(tables(t, db)...)))
			askEverything(t, db, present, late)
			require.Equal(t, len(absent), lostByGet(t, db, absent))
			require.Equal(t, len(absent), lostBySeek(t, db, absent))
			require.NoError(t, db.Close())

			// Back to the plain engine: it does not ask our filters, and finds everything.
			o = options()
			engineSetting.configure(t, o)
			o.Filters = map[string]pebble.FilterPolicy{engineName: engine.FilterPolicy(10)}
			w := watch(o)
			db = open(t, dbDir, o)
			askEverything(t, db, present, late)
			require.Equal(t, len(absent), lostBySeek(t, db, absent))
			require.Empty(t, w.questions())
			put(t, db, absent[:n])
			compact(t, db)
			askEverything(t, db, present, late, absent[:n])
			require.Equal(t, []string{engineName}, slices.Compact(slices.Concat(tables(t, db)...)))
			require.NotEmpty(t, w.questions())
			require.NoError(t, db.Close())
		})
	}
}

// Exact filters in L0 to L2 and blocked ones in L3 to L5, under names of their own or one, counted by level.
func TestBlockedPerLevel(t *testing.T) {
	for _, names := range [][2]string{{"exact", "blocked"}, {policy.Name, policy.Name}} {
		inMemory(t, func(t *testing.T, options func() *pebble.Options) {
			keys := randomKeys(seeded(t, 112), 4000)
			keys, absent := keys[:3000], keys[3000:]
			upper := policy.Count(bloom(t, 16, policy.WithName(names[0])))
			lower := policy.Count(blocked(t, 10, policy.WithName(names[1])))
			configure := func() *pebble.Options {
				o := options()
				require.NoError(t, pebblev1.ConfigureLevels(o, []policy.Policy{upper, upper, upper, lower, lower, lower}))
				return o
			}
			fill(t, dbDir, configure, keys)
			require.Positive(t, upper.Snapshot().Filters)
			require.Positive(t, lower.Snapshot().Filters, "small databases begin with L5 or L4")

			// survives opens the database and requires that the filters of both kinds are asked, and none lies.
			survives := func(o *pebble.Options) {
				w := watch(o)
				db := open(t, dbDir, resting(o))
				require.Equal(t, []string{names[0]}, tables(t, db)[0])
				require.Contains(t, between(t, db), names[1])
				require.Equal(t, []string{""}, tables(t, db)[6])
				askEverything(t, db, keys)
				require.Equal(t, len(absent), lostByGet(t, db, absent))
				asked := w.questions()
				for _, l := range []string{label(names[0], 11), label(names[1], blockedEncoding)} {
					require.Positive(t, asked[l], l)
				}
				require.Positive(t, db.Metrics().Filter.Hits)
				require.NoError(t, db.Close())
			}
			before := sum([]*policy.Counted{upper, lower})
			survives(configure())
			asked := sum([]*policy.Counted{upper, lower}).Sub(before)
			require.GreaterOrEqual(t, asked.MayContain, uint64(2*len(keys)/3), "the keys in L0, by Get and by SeekPrefixGE")
			require.Greater(t, asked.ReadsAvoided, uint64(len(absent)/2))

			// The options that the database has stored bring both back, if their names are distinct. Under one name the
			// first candidate is all levels' policy, and reads everything.
			stored := storedOptions(t, options().FS)
			for _, candidates := range [][]policy.Policy{{upper, lower}, {lower, upper}} {
				o := options()
				require.NoError(t, o.Parse(stored, &pebble.ParseHooks{
					NewFilterPolicy: pebblev1.ByName(candidates...),
				}))
				o.Comparer = options().Comparer // the default one, which the file names, has no Split
				exact, block := filterAt(o, 2), filterAt(o, 3)
				require.Equal(t, names, [2]string{exact.Name(), block.Name()})
				if names[0] != names[1] {
					require.Equal(t, pebblev1.New(upper), exact)
					require.Equal(t, pebblev1.New(lower), block)
				} else {
					require.Equal(t, pebblev1.New(candidates[0]), exact)
					require.Equal(t, pebblev1.New(candidates[0]), block)
				}
				o.Filters = map[string]pebble.FilterPolicy{exact.Name(): exact, block.Name(): block}
				survives(o)
			}
		})
	}
}

// The encodings of package policy may share a name. Others may not.
func TestConfigureBlocked(t *testing.T) {
	for _, name := range []string{policy.Name, policy.NameGoLevelDB, "mine"} {
		named := policy.WithName(name)
		exact, block := bloom(t, 16, named), blocked(t, 10, named)
		for _, c := range []struct {
			what      string
			former, p policy.Policy
			fault     string // "" if it is allowed
		}{
			{"after exact ones", exact, block, ""},
			{"after blocked ones", block, exact, ""},
			{"after other bits", blocked(t, 20, named), block, ""},
			{"counted", policy.Count(exact), policy.Count(block), ""},
			{"other keys in exact filters", salted{exact}, block, "policy.WithName"},
			{"other keys in blocked filters", block, salted{block}, "policy.WithName"},
			{"a reader that knows neither", block, lenient{salted{block}}, "policy.WithName"},
		} {
			former := pebblev1.New(c.former)
			for where, o := range map[string]*pebble.Options{
				"in a level": atLevel0(former, nil), "in Filters": atLevel0(nil, map[string]pebble.FilterPolicy{name: former}),
			} {
				err := pebblev1.Configure(o, c.p)
				if c.fault != "" {
					require.ErrorContains(t, err, c.fault, "%s, %s, %s", name, c.what, where)
					continue
				}
				require.NoError(t, err, "%s, %s, %s", name, c.what, where)
				require.Equal(t, pebblev1.New(c.p), o.Filters[name])
			}
			err := pebblev1.ConfigureLevels(&pebble.Options{}, []policy.Policy{c.former, nil, c.p})
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault, "%s, %s", name, c.what)
			} else {
				require.NoError(t, err, "%s, %s", name, c.what)
			}
		}
		o := atLevel0(foreign{engine.FilterPolicy(10), name}, nil)
		require.ErrorContains(t, pebblev1.Configure(o, block), "policy.WithName")
	}
	var none *policy.BlockedBloom
	require.ErrorContains(t, pebblev1.Configure(&pebble.Options{}, none), "the policy is nil")
	require.Panics(t, func() { pebblev1.New(none) })
}
