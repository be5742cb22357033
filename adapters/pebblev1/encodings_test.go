package pebblev1_test

import (
	"fmt"
	"io"
	"maps"
	"math"
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

func oursBlocked(name string) setting {
	return writing(name, blockedEncoding, func(t testing.TB, name policy.Option) policy.Policy { return blocked(t, 10, name) })
}

func oursFuse(bits float64, name string) setting {
	s := writing(name, fuseEncoding, func(t testing.TB, name policy.Option) policy.Policy { return fuse(t, bits, name) })
	s.large = true
	return s
}

// large gives memtables, and so tables, room for thousands of keys, as many as binary fuse filters take.
func large(o *pebble.Options) *pebble.Options {
	o.MemTableSize = 1 << 20
	o.LBaseMaxBytes = 96 << 10
	return flat(o, 1<<20)
}

// requireFalsePositives requires that of the checks of absent keys, in binary fuse filters with fingerprints of so many bits,
// the share passed that theory says, within 5 standard errors and one key.
func requireFalsePositives(t testing.TB, fingerprint int, absent policy.Counters) {
	rate := math.Exp2(-float64(fingerprint))
	want := rate * float64(absent.Checks())
	require.InDelta(t, want, float64(absent.MayContain), 5*math.Sqrt(want*(1-rate))+1, "of %d checks", absent.Checks())
}

// Tables of every format have filters of the encodings in the reserved range: of few keys, of many, and of none.
func TestEncodedTableBuilder(t *testing.T) {
	all := randomKeys(seeded(t, 110), 13_000)
	for _, format := range tableFormats() {
		for _, c := range []struct {
			name        string
			p           encoded
			n           int
			last        byte
			fingerprint int // if it is binary fuse
		}{
			{"blocked", blocked(t, 10), 1, blockedEncoding, 0},
			{"blocked", blocked(t, 10), 500, blockedEncoding, 0},
			{"blocked", blocked(t, 10), 2000, blockedEncoding, 0},
			{"binary fuse", fuse(t, 11), 1, blockedEncoding, 0},
			{"binary fuse", fuse(t, 11), 900, blockedEncoding, 0},
			{"binary fuse", fuse(t, 11), 6000, fuseEncoding, 8},
			{"binary fuse", fuse(t, 18), 2000, fuseEncoding, 12},
			{"binary fuse", fuse(t, 25), 2000, fuseEncoding, 16},
		} {
			t.Run(fmt.Sprintf("%s, %s, %d keys, %d bits", format, c.name, c.n, c.fingerprint), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "table")
				present, absent := sorted(all[:c.n]), all[6000:8000]
				if c.fingerprint == 8 {
					absent = all[6000:] // enough for some to pass
				}
				writeTable(t, path, format, pebblev1.New(c.p), present)
				s, filter := capture(bloom(t, 16)) // the name decides; reading needs no setting
				filters := map[string]pebble.FilterPolicy{s.Name(): pebblev1.New(s)}
				require.Zero(t, lostInTable(t, path, filters, present))
				require.EqualValues(t, c.n, s.asked.Load())
				require.Zero(t, s.absent.Load())
				require.Equal(t, c.p.AppendFilter(nil, present), *filter)
				require.Equal(t, c.last, (*filter)[len(*filter)-1])
				s.saw = nil
				require.Equal(t, len(absent), lostInTable(t, path, filters, absent))
				avoided := int(s.absent.Load())
				require.Greater(t, avoided, len(absent)*97/100)
				if c.last == fuseEncoding {
					requireFalsePositives(t, c.fingerprint, policy.Counters{
						ReadsAvoided: uint64(avoided), MayContain: uint64(len(absent) - avoided),
					})
				}
				s.lies = true
				require.Equal(t, c.n, lostInTable(t, path, filters, present), "this test would notice lost keys")
			})
		}
		for _, p := range eachEncoding(t)[1:] {
			t.Run(fmt.Sprintf("%s, %T, no keys", format, p), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "table")
				writeTable(t, path, format, pebblev1.New(p), nil, [2]string{"b", "c"})
				s, filter := capture(p)
				require.Equal(t, 1, lostInTable(t, path, map[string]pebble.FilterPolicy{s.Name(): pebblev1.New(s)}, [][]byte{[]byte("b")}))
				require.Empty(t, *filter)
				require.EqualValues(t, 1, s.asked.Load())
				require.EqualValues(t, 1, s.absent.Load())
			})
		}
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

// One database goes from Pebble's own filters to exact ones, to blocked ones, to binary fuse ones, and to and fro, under one
// name or under several. All the time every key is found, each table's filters are asked, and they avoid reads. Then it goes
// back to the plain engine.
func TestEncodingsBesideOthers(t *testing.T) {
	for _, names := range [][2]string{{policy.Name, policy.Name}, {"mine", "another"}} {
		inMemory(t, func(t *testing.T, options func() *pebble.Options) {
			exact, block, fused := ours(10, 6, policy.Name), oursBlocked(names[0]), oursFuse(11.5, names[1])
			all := randomKeys(seeded(t, 111), 7000)
			take := func(n int) (keys [][]byte) {
				keys, all = all[:n:n], all[n:]
				return keys
			}
			late, absent := take(1000), take(3300)

			// A table for each step: tables rest in L0, and a key is sought in all of them.
			var present [][]byte
			labels := map[string]int{} // tables
			for _, s := range []setting{engineSetting, exact, block, fused, exact, fused, block, engineSetting} {
				o := resting(options())
				engineSetting.configure(t, o) // as a program whose options have the engine's own: what comes is added
				if s.label != engineName {
					for _, other := range []setting{exact, block, fused} {
						other.configure(t, o)
					}
					s.configure(t, o)
				}
				db := open(t, dbDir, large(o))
				keys := take(map[bool]int{false: 150, true: 900}[s.large]) // 900 suit 11.5 bits per key
				put(t, db, keys)
				require.NoError(t, db.Close())
				present = append(present, keys...)
				labels[s.label]++
			}
			require.Equal(t, map[string]int{engineName: 2, exact.label: 2, block.label: 2, fused.label: 2}, labels)

			for _, now := range []setting{exact, fused} {
				o := resting(options())
				for _, s := range []setting{engineSetting, fused, block, exact, now} {
					s.configure(t, o)
				}
				w := watch(o)
				db := open(t, dbDir, large(o))
				written := map[string]bool{engineName: true, policy.Name: true, names[0]: true, names[1]: true}
				require.ElementsMatch(t, slices.Collect(maps.Keys(written)), tables(t, db)[0])
				askEverything(t, db, present)
				noted := w.answers()
				require.Len(t, noted, len(labels))
				for l := range labels {
					require.GreaterOrEqual(t, noted[l].Checks(), uint64(2*2*150), "%s: two tables, by Get and by SeekPrefixGE", l)
				}
				require.Equal(t, 300, lostByGet(t, db, absent[:300]))
				require.Equal(t, len(absent), lostBySeek(t, db, absent))
				noted = w.answers()
				for l := range labels {
					require.Greater(t, noted[l].Checks(), uint64(2*3300*9/10), "%s: two tables", l)
					require.Greater(t, noted[l].ReadsAvoided, noted[l].Checks()*95/100, l)
				}
				requireFalsePositives(t, 8, noted[fused.label])
				require.NoError(t, db.Close())
			}

			// Compactions write what the setting says.
			absent = absent[:300]
			for i, s := range []setting{block, fused} { // under names[i]
				o := options()
				for _, other := range []setting{exact, block, fused, s} {
					other.configure(t, o)
				}
				w := watch(o)
				db := open(t, dbDir, large(o))
				put(t, db, late[:500*(i+1)])
				compact(t, db)
				require.Equal(t, names[i:i+1], slices.Compact(slices.Concat(tables(t, db)...)))
				w.answers()
				askEverything(t, db, present, late[:500*(i+1)])
				require.Equal(t, len(absent), lostByGet(t, db, absent))
				require.Equal(t, len(absent), lostBySeek(t, db, absent))
				requireAnswers(t, w.answers(), s.label)
				require.NoError(t, db.Close())
			}

			// Back to the plain engine: it does not ask our filters, and finds everything.
			o := options()
			engineSetting.configure(t, o)
			o.Filters = map[string]pebble.FilterPolicy{engineName: engine.FilterPolicy(10)}
			w := watch(o)
			db := open(t, dbDir, o)
			askEverything(t, db, present, late)
			require.Equal(t, len(absent), lostBySeek(t, db, absent))
			require.Empty(t, w.answers())
			put(t, db, absent)
			compact(t, db)
			askEverything(t, db, present, late, absent)
			require.Equal(t, []string{engineName}, slices.Compact(slices.Concat(tables(t, db)...)))
			require.NotEmpty(t, w.answers())
			require.NoError(t, db.Close())
		})
	}
}

// A policy for each level, of all encodings, under names of their own or one, counted by encoding.
func TestEncodingsPerLevel(t *testing.T) {
	const none, exact, block, fused = 0, 11, blockedEncoding, fuseEncoding // the last bytes; 11 is k of 16 bits per key
	for _, c := range []struct {
		name   string
		levels [7]byte
	}{
		{"exact above blocked", [7]byte{exact, exact, exact, block, block, block, none}},
		{"exact and blocked above binary fuse", [7]byte{exact, block, block, none, fused, fused, fused}},
		{"blocked above binary fuse", [7]byte{block, block, block, fused, fused, fused, none}},
		{"binary fuse above exact", [7]byte{fused, fused, fused, fused, fused, fused, exact}},
	} {
		for _, names := range []map[byte]string{
			{exact: "exact", block: "blocked", fused: "fuse"},
			{exact: policy.Name, block: policy.Name, fused: policy.Name},
		} {
			t.Run(c.name, func(t *testing.T) {
				inMemory(t, func(t *testing.T, options func() *pebble.Options) {
					rng := seeded(t, 112)
					keys := randomKeys(rng, 6000)
					keys, absent := keys[:4500], keys[4500:]
					policies := map[byte]policy.Policy{
						exact: bloom(t, 16, policy.WithName(names[exact])),
						block: blocked(t, 10, policy.WithName(names[block])),
						fused: fuse(t, 11.5, policy.WithName(names[fused])), // which suits 900, 1,500 and 2,100 keys
					}
					var levels []policy.Policy
					var counted []*policy.Counted
					inUse := map[byte]*policy.Counted{}
					for _, last := range c.levels {
						if last == none {
							levels = append(levels, nil)
							continue
						}
						if inUse[last] == nil {
							inUse[last] = policy.Count(policies[last])
							counted = append(counted, inUse[last])
						}
						levels = append(levels, inUse[last])
					}
					configure := func() *pebble.Options {
						o := large(options())
						require.NoError(t, pebblev1.ConfigureLevels(o, levels))
						return o
					}
					fill(t, dbDir, configure, keys)
					rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] }) // over the levels

					// survives opens the database and requires that the filters of each level are asked, and none lies. It
					// looks up one of so many keys.
					survives := func(o *pebble.Options, of int) {
						keys, absent := keys[:len(keys)/of], absent[:len(absent)/of]
						w := watch(o)
						db := open(t, dbDir, resting(o))
						want := map[byte]bool{}
						for level, found := range tables(t, db) {
							if len(found) > 0 {
								require.Equal(t, []string{names[c.levels[level]]}, found, "L%d", level)
								want[c.levels[level]] = true
							}
						}
						delete(want, none)
						require.Equal(t, slices.Contains(c.levels[:], fused), want[fused])
						askEverything(t, db, keys)
						noted := w.answers()
						require.Len(t, noted, len(want))
						for last := range want {
							require.GreaterOrEqual(t, noted[label(names[last], last)].MayContain, uint64(1000/of), "%#x", last)
						}
						some := absent[:len(absent)/5]
						require.Equal(t, len(some), lostByGet(t, db, some))
						require.Equal(t, len(absent), lostBySeek(t, db, absent))
						noted = w.answers()
						for last := range want {
							noted := noted[label(names[last], last)]
							require.Greater(t, noted.ReadsAvoided, noted.Checks()*97/100, "%#x", last)
							if last == fused {
								require.Greater(t, noted.Checks(), uint64(1000/of))
								requireFalsePositives(t, 8, noted)
							}
						}
						require.NoError(t, db.Close())
					}
					before := sum(counted)
					survives(configure(), 1)
					asked := sum(counted).Sub(before)
					require.GreaterOrEqual(t, asked.MayContain, uint64(2*len(keys)/3), "the keys in L0, by Get and by SeekPrefixGE")
					require.Greater(t, asked.ReadsAvoided, uint64(len(absent)))

					// The options that the database has stored bring all back, if their names are distinct. Under one name the
					// first candidate is all levels' policy, and reads everything.
					stored := storedOptions(t, options().FS)
					var candidates []policy.Policy
					for _, c := range counted {
						candidates = append(candidates, c)
					}
					for range candidates {
						candidates = append(candidates[1:], candidates[0])
						o := options()
						require.NoError(t, o.Parse(stored, &pebble.ParseHooks{
							NewFilterPolicy: pebblev1.ByName(candidates...),
						}))
						o.Comparer = options().Comparer // the default one, which the file names, has no Split
						o.Filters = map[string]pebble.FilterPolicy{}
						for level, last := range c.levels {
							want := noFilter
							switch {
							case last == none:
							case names[exact] == names[fused]:
								want = pebblev1.New(candidates[0])
							default:
								want = pebblev1.New(inUse[last])
							}
							require.Equal(t, want, filterAt(o, level), "L%d", level)
							if last != none {
								o.Filters[want.Name()] = want
							}
						}
						survives(o, 10)
					}
				})
			})
		}
	}
}

// The encodings of package policy may share a name. Others may not.
func TestConfigureEncodings(t *testing.T) {
	type change struct {
		what      string
		former, p policy.Policy
		fault     string // "" if it is allowed
	}
	for _, name := range []string{policy.Name, policy.NameGoLevelDB, "mine"} {
		var changes []change
		for i, p := range eachEncoding(t, policy.WithName(name)) {
			who := fmt.Sprintf("%T", p)
			changes = append(changes,
				change{"other keys after " + who, p, salted{p}, "policy.WithName"},
				change{"a reader that knows none after " + who, p, lenient{salted{p}}, "policy.WithName"},
			)
			for j, q := range append(eachEncoding(t, policy.WithName(name)), fuse(t, 20, policy.WithName(name))) {
				what := fmt.Sprintf("%s after %T", who, q)
				changes = append(changes,
					change{what, q, p, ""},
					change{what + ", counted", policy.Count(q), policy.Count(p), ""},
				)
				if i != j {
					changes = append(changes, change{what + " of other keys", salted{q}, p, "policy.WithName"})
				}
			}
			o := atLevel0(foreign{engine.FilterPolicy(10), name}, nil)
			require.ErrorContains(t, pebblev1.Configure(o, p), "policy.WithName")
		}
		for _, c := range changes {
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
	}
	for _, none := range []policy.Policy{(*policy.BlockedBloom)(nil), (*policy.BinaryFuse)(nil)} {
		require.ErrorContains(t, pebblev1.Configure(&pebble.Options{}, none), "the policy is nil")
		require.Panics(t, func() { pebblev1.New(none) })
	}
}
