package pebblev2_test

import (
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// witness notes whom Pebble asks about which filters, and the answers.
type witness struct {
	mutex sync.Mutex
	noted map[string]policy.Counters // by label
}

// watch puts a witness before every reader that o has.
func watch(o *pebble.Options) *witness {
	w := newWitness()
	w.watch(o)
	return w
}

func newWitness() *witness { return &witness{noted: map[string]policy.Counters{}} }

func (w *witness) watch(o *pebble.Options) {
	for name, f := range o.Filters {
		o.Filters[name] = watched{f, w}
	}
}

// answers returns what was noted since it was called last.
func (w *witness) answers() map[string]policy.Counters {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	noted := w.noted
	w.noted = map[string]policy.Counters{}
	return noted
}

type watched struct {
	pebble.FilterPolicy
	witness *witness
}

func (w watched) MayContain(ftype pebble.FilterType, filter, key []byte) bool {
	who := w.Name()
	if who != engineName && len(filter) > 0 {
		who = label(who, filter[len(filter)-1])
	}
	answer := w.FilterPolicy.MayContain(ftype, filter, key)
	w.witness.mutex.Lock()
	defer w.witness.mutex.Unlock()
	c := w.witness.noted[who]
	if answer {
		c.MayContain++
	} else {
		c.ReadsAvoided++
	}
	w.witness.noted[who] = c
	return answer
}

// label says whose filter it is, and how it ends: in LevelDB's encoding with the number of probes, floor(0.69 * bits per key).
func label(name string, last byte) string { return fmt.Sprintf("%s, %#x", name, last) }

// setting is a way to configure a database.
type setting struct {
	configure func(t testing.TB, o *pebble.Options)
	label     string // of its filters; "" if it writes none
	large     bool   // these take more keys than tables of small options have
}

// writing returns the setting of a policy whose filters end with last.
func writing(name string, last byte, p func(t testing.TB, name policy.Option) policy.Policy) setting {
	return setting{configure: func(t testing.TB, o *pebble.Options) {
		configured(t, o, p(t, policy.WithName(name)), pebblev2.WithL6())
	}, label: label(name, last)}
}

func ours(bits float64, probes byte, name string) setting {
	return writing(name, probes, func(t testing.TB, name policy.Option) policy.Policy { return bloom(t, bits, name) })
}

var (
	// engineSetting is what a user of Pebble's own filters has. The levels below L0 inherit its policy.
	engineSetting = setting{configure: func(_ testing.TB, o *pebble.Options) {
		o.Levels[0].FilterPolicy = engine.FilterPolicy(10)
	}, label: engineName}
	off = setting{configure: func(t testing.TB, o *pebble.Options) {
		require.NoError(t, pebblev2.ConfigureLevels(o, make([]policy.Policy, 7)))
	}}
)

// with returns options with settings applied in order, which is how one takes over another's database.
func with(t testing.TB, format pebble.FormatMajorVersion, settings ...setting) *pebble.Options {
	o := small(format)
	for _, s := range settings {
		s.configure(t, o)
	}
	return o
}

// changes are those that users make to the filters of a database.
var changes = []struct {
	name          string
	before, after setting
}{
	{"more bits", ours(6, 4, policy.Name), ours(16, 11, policy.Name)},
	{"fewer bits", ours(16, 11, policy.Name), ours(6, 4, policy.Name)},
	{"another name", ours(10, 6, policy.Name), ours(10, 6, "mine")},
	{"off", ours(10, 6, policy.Name), off},
	{"on", off, ours(10, 6, policy.Name)},
	{"from the engine's own", engineSetting, ours(10, 6, policy.Name)},
	{"to blocked, same name", ours(10, 6, policy.Name), oursBlocked(policy.Name)},
	{"from blocked, same name", oursBlocked(policy.Name), ours(10, 6, policy.Name)},
	{"from the engine's own to blocked", engineSetting, oursBlocked("mine")},
	{"to binary fuse, same name", ours(10, 6, policy.Name), oursFuse(26, policy.Name)},
	{"from binary fuse to blocked, same name", oursFuse(26, policy.Name), oursBlocked(policy.Name)},
	{"from the engine's own to binary fuse", engineSetting, oursFuse(26, "mine")},
}

func askEverything(t testing.TB, db *pebble.DB, keys ...[][]byte) {
	for _, keys := range keys {
		require.Zero(t, lostByGet(t, db, keys))
		require.Zero(t, lostBySeek(t, db, keys))
	}
}

// onDisk adds up what FiltersOnDisk tells of all levels; "" is no filter.
func onDisk(t testing.TB, db *pebble.DB) map[string]int {
	names := tables(t, db)
	levels, err := pebblev2.FiltersOnDisk(db)
	require.NoError(t, err)
	for after := tables(t, db); !reflect.DeepEqual(names, after); after = tables(t, db) { // a compaction came between
		names = after
		levels, err = pebblev2.FiltersOnDisk(db)
		require.NoError(t, err)
	}
	require.Len(t, levels, 7)
	sum := map[string]int{}
	for level, l := range levels {
		names := names[level]
		for name, n := range l.ByName {
			require.Positive(t, n)
			require.NotEmpty(t, name)
			require.Contains(t, names, name)
			sum[name] += n
		}
		if l.None > 0 {
			require.Contains(t, names, "")
			sum[""] += l.None
		}
		require.Zero(t, l.Unknown)
	}
	return sum
}

func nameOf(s setting) string {
	if s.label == "" {
		return ""
	}
	o := oneLevel()
	s.configure(nil, o)
	return filtersOf(o)[0]
}

// Before, old filters answer for every table; afterwards new ones, but for tables that stay in L6.
func TestRewrite(t *testing.T) {
	for _, format := range formats {
		for _, c := range changes {
			t.Run(format.String()+"/"+c.name, func(t *testing.T) {
				dir := t.TempDir()
				keys := randomKeys(seeded(t, 80), 3000)
				options := func(settings ...setting) *pebble.Options {
					o := with(t, format, settings...)
					if c.before.large || c.after.large {
						large(o)
					}
					return o
				}
				fill(t, dir, func() *pebble.Options { return options(c.before) }, keys)

				o := resting(options(c.before, c.after))
				w := watch(o)
				db := open(t, dir, o)
				total := 0
				for _, n := range onDisk(t, db) {
					total += n
				}
				require.Equal(t, map[string]int{nameOf(c.before): total}, onDisk(t, db))
				askEverything(t, db, keys)
				requireAnswers(t, w.answers(), c.before.label)

				var seen []pebblev2.RewriteProgress
				last, err := pebblev2.Rewrite(context.Background(), db, func(p pebblev2.RewriteProgress) { seen = append(seen, p) })
				require.NoError(t, err)
				require.Zero(t, last.Waiting)
				require.Less(t, last.InL6.Tables, seen[0].InL6.Tables, "random keys come down on random keys")
				require.Equal(t, total, last.Rewritten.Tables+last.InL6.Tables)
				requireProgress(t, seen, last)

				w.answers()
				askEverything(t, db, keys)
				requireAnswersAfter(t, w.answers(), c.before.label, c.after.label, last)
				after := onDisk(t, db)
				require.Positive(t, after[nameOf(c.after)])
				if nameOf(c.before) != nameOf(c.after) {
					require.Equal(t, last.InL6.Tables, after[nameOf(c.before)])
				}
				require.NoError(t, db.Close())

				// What was rewritten stays when the database is opened again.
				o = resting(options(c.after))
				w = watch(o)
				db = open(t, dir, o)
				askEverything(t, db, keys)
				if c.after.label != "" {
					requireAnswersAfter(t, w.answers(), c.before.label, c.after.label, last)
				}
				require.NoError(t, db.Close())
			})
		}
	}
}

// requireAnswersAfter requires that the new filters are asked, and old ones only if Rewrite has left some in L6.
func requireAnswersAfter(t testing.TB, noted map[string]policy.Counters, before, after string, p pebblev2.RewriteProgress) {
	if p.InL6.Tables > 0 {
		delete(noted, before)
	}
	requireAnswers(t, noted, after)
}

// Who leaves asks our filters no more, loses no key, and can have the engine's own filters in all tables again.
func TestRewriteOnLeaving(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			keys := randomKeys(seeded(t, 87), 3000)
			fill(t, dir, func() *pebble.Options { return with(t, format, ours(10, 6, policy.Name)) }, keys)

			o := resting(with(t, format, engineSetting))
			o.Filters = map[string]pebble.FilterPolicy{engineName: engine.FilterPolicy(10)}
			w := watch(o)
			db := open(t, dir, o)
			askEverything(t, db, keys)
			require.Empty(t, w.answers())
			require.Zero(t, db.Metrics().Filter)

			p, err := pebblev2.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
			require.Zero(t, p.Waiting)
			require.Equal(t, p.InL6.Tables, onDisk(t, db)[policy.Name])
			require.Positive(t, onDisk(t, db)[engineName])
			askEverything(t, db, keys)
			requireAnswers(t, w.answers(), engineName)
			require.NoError(t, db.Close())
		})
	}
}

// requireAnswers requires that all filters that were asked have one label, and that there were some; or none, for "".
func requireAnswers(t testing.TB, noted map[string]policy.Counters, label string) {
	if label == "" {
		require.Empty(t, noted)
		return
	}
	require.Len(t, noted, 1, "%v", noted)
	require.Positive(t, noted[label].Checks(), "%v", noted)
}

// requireProgress requires steps that lead to last, and that no table is lost from the counts.
func requireProgress(t testing.TB, seen []pebblev2.RewriteProgress, last pebblev2.RewriteProgress) {
	require.Greater(t, len(seen), 1)
	require.Zero(t, seen[0].Rewritten)
	require.Equal(t, last, seen[len(seen)-1])
	sum := func(p pebblev2.RewriteProgress) pebblev2.TableCount {
		return pebblev2.TableCount{
			Tables: p.Rewritten.Tables + p.Waiting.Tables + p.InL6.Tables,
			Bytes:  p.Rewritten.Bytes + p.Waiting.Bytes + p.InL6.Bytes,
		}
	}
	for i, p := range seen {
		require.Equal(t, sum(last), sum(p))
		if i > 0 {
			require.LessOrEqual(t, p.Waiting.Tables, seen[i-1].Waiting.Tables)
			require.GreaterOrEqual(t, p.Rewritten.Tables, seen[i-1].Rewritten.Tables)
			require.NotEqual(t, p, seen[i-1])
		}
	}
}

// Tables in L6 on which no data comes down stay as they are, and Rewrite says so.
func TestRewriteLeavesL6(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			rng := seeded(t, 81)
			below, above := under('a', randomKeys(rng, 1000)), under('b', randomKeys(rng, 1000))
			before, after := ours(10, 6, "before"), ours(10, 6, "after")
			dir := t.TempDir()
			db := open(t, dir, resting(with(t, format, before)))
			put(t, db, below)
			compact(t, db)
			sunk := onDisk(t, db)["before"]
			require.Greater(t, sunk, 1)
			put(t, db, above[:500])
			put(t, db, above[500:])
			total := onDisk(t, db)["before"]
			require.NoError(t, db.Close())

			o := resting(with(t, format, before, after))
			w := watch(o)
			db = open(t, dir, o)
			p, err := pebblev2.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
			require.Equal(t, total-sunk, p.Rewritten.Tables)
			require.Zero(t, p.Waiting)
			require.Equal(t, sunk, p.InL6.Tables)
			require.Equal(t, sunk, onDisk(t, db)["before"])
			require.Positive(t, onDisk(t, db)["after"])
			require.Len(t, onDisk(t, db), 2)

			askEverything(t, db, below)
			requireAnswers(t, w.answers(), before.label)
			askEverything(t, db, above)
			requireAnswers(t, w.answers(), after.label)

			// Another call changes nothing.
			again, err := pebblev2.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
			require.Zero(t, again.Rewritten)
			require.NoError(t, db.Close())
		})
	}
}

// under returns keys with a byte before them.
func under(first byte, keys [][]byte) (all [][]byte) {
	for _, key := range keys {
		all = append(all, append([]byte{first}, key...))
	}
	return all
}

// A table that is alone is moved, not rewritten, and Rewrite says so. Then it lies in L6.
func TestRewriteOfOneTable(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			keys := randomKeys(seeded(t, 82), 50)
			db := open(t, dir, resting(with(t, format, ours(10, 6, "before"))))
			put(t, db, keys)
			require.Equal(t, []string{"before"}, tables(t, db)[0])
			require.NoError(t, db.Close())

			o := resting(with(t, format, ours(10, 6, "before"), ours(10, 6, "after")))
			db = open(t, dir, o)
			p, err := pebblev2.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
			require.Equal(t, pebblev2.RewriteProgress{InL6: p.InL6}, p)
			require.Equal(t, 1, p.InL6.Tables)
			require.Equal(t, []string{"before"}, tables(t, db)[6])
			askEverything(t, db, keys)
			require.NoError(t, db.Close())
		})
	}
}

// Tables whose keys are few or all deleted are rewritten too; a single key is not.
func TestRewriteOfFewKeys(t *testing.T) {
	before, after := ours(10, 6, "before"), ours(10, 6, "after")
	k := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name    string
		tables  []func(t testing.TB, db *pebble.DB)
		waiting int
	}{
		{"empty", nil, 0},
		{"one key in one table", []func(testing.TB, *pebble.DB){
			func(t testing.TB, db *pebble.DB) { put(t, db, [][]byte{k("a")}) },
		}, 1},
		{"one key twice", []func(testing.TB, *pebble.DB){
			func(t testing.TB, db *pebble.DB) { put(t, db, [][]byte{k("a")}) },
			func(t testing.TB, db *pebble.DB) { put(t, db, [][]byte{k("a")}) },
		}, 2},
		{"two keys", []func(testing.TB, *pebble.DB){
			func(t testing.TB, db *pebble.DB) { put(t, db, [][]byte{k("a")}) },
			func(t testing.TB, db *pebble.DB) { put(t, db, [][]byte{k("b")}) },
		}, 0},
		{"deleted", []func(testing.TB, *pebble.DB){
			func(t testing.TB, db *pebble.DB) { put(t, db, [][]byte{k("a"), k("b")}) },
			func(t testing.TB, db *pebble.DB) {
				require.NoError(t, db.DeleteRange(k("a"), k("c"), pebble.NoSync))
				require.NoError(t, db.Flush())
			},
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			db := open(t, dir, resting(with(t, pebble.FormatNewest, before)))
			for _, table := range c.tables {
				table(t, db)
			}
			require.NoError(t, db.Close())
			db = open(t, dir, resting(with(t, pebble.FormatNewest, before, after)))
			p, err := pebblev2.Rewrite(context.Background(), db, nil)
			require.NoError(t, err)
			require.Equal(t, c.waiting, p.Waiting.Tables)
			require.Equal(t, len(c.tables)-c.waiting, p.Rewritten.Tables)
			require.NoError(t, db.Close())
		})
	}
}

// layered makes a database with n tables in L5 that have the given keys, over L6 with others.
func layered(t testing.TB, dir string, o func() *pebble.Options, keys [][]byte, n int) {
	db := open(t, dir, resting(o()))
	put(t, db, randomKeys(seeded(t, 86), 2000)) // enough that L5 is used
	compact(t, db)
	p := o().Levels[0].FilterPolicy
	keys = sorted(keys)
	for i := range n {
		path := filepath.Join(t.TempDir(), "table")
		writeTable(t, path, tableFormat(db), p, keys[i*len(keys)/n:(i+1)*len(keys)/n])
		ingest(t, db, path)
	}
	levels, err := db.SSTables()
	require.NoError(t, err)
	require.Len(t, levels[5], n)
	require.NoError(t, db.Close())
}

// A run goes in steps. One that is cancelled ends after the step at hand, and the next one goes on.
func TestRewriteIsCancelled(t *testing.T) {
	const n = 24
	dir := t.TempDir()
	keys := randomKeys(seeded(t, 83), 50*n)
	before, after := ours(10, 6, "before"), ours(10, 6, "after")
	layered(t, dir, func() *pebble.Options { return flat(with(t, pebble.FormatNewest, before), 8<<10) }, keys, n)
	db := open(t, dir, resting(flat(with(t, pebble.FormatNewest, before, after), 8<<10)))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := pebblev2.Rewrite(ctx, db, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, p.Rewritten)

	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	p, err = pebblev2.Rewrite(ctx, db, func(p pebblev2.RewriteProgress) {
		if p.Rewritten.Tables > 0 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.GreaterOrEqual(t, p.Rewritten.Tables, 8)
	require.Equal(t, n-8, p.Waiting.Tables)
	askEverything(t, db, keys)

	var waiting []int
	last, err := pebblev2.Rewrite(context.Background(), db, func(p pebblev2.RewriteProgress) {
		waiting = append(waiting, p.Waiting.Tables)
	})
	require.NoError(t, err)
	require.Equal(t, []int{16, 8, 0}, waiting)
	require.LessOrEqual(t, onDisk(t, db)["before"], last.InL6.Tables, "where nothing came down")
	askEverything(t, db, keys)
	require.NoError(t, db.Close())
}

// Readers and writers go on meanwhile, and so do Pebble's own compactions.
func TestRewriteOfALiveDatabase(t *testing.T) {
	for _, format := range formats {
		t.Run(format.String(), func(t *testing.T) {
			dir := t.TempDir()
			rng := seeded(t, 84)
			keys := randomKeys(rng, 6000)
			old, added := keys[:4500], keys[4500:]
			before, after := ours(10, 6, "before"), ours(16, 11, "after")
			fill(t, dir, func() *pebble.Options { return with(t, format, before) }, old)
			o := with(t, format, before, after)
			o.MemTableSize = 32 << 10
			db := open(t, dir, o)

			var others sync.WaitGroup
			var done atomic.Bool
			var written atomic.Int64
			others.Add(2)
			go func() {
				defer others.Done()
				for _, key := range added {
					if err := db.Set(key, value(key), pebble.NoSync); err != nil {
						t.Errorf("Set: %v", err)
						return
					}
					written.Add(1)
				}
			}()
			go func() {
				defer others.Done()
				rng := rand.New(rand.NewSource(rng.Int63()))
				for !done.Load() {
					sample := [][]byte{old[rng.Intn(len(old))], keys[rng.Intn(len(old)+int(written.Load()))]}
					if n := lostByGet(t, db, sample) + lostBySeek(t, db, sample); n > 0 {
						t.Errorf("%d keys lost", n)
					}
				}
			}()
			p, err := pebblev2.Rewrite(context.Background(), db, nil)
			done.Store(true)
			others.Wait()
			require.NoError(t, err)
			require.Zero(t, p.Waiting)
			require.LessOrEqual(t, onDisk(t, db)["before"], p.InL6.Tables, "Pebble may have rewritten more since")
			askEverything(t, db, keys)
			require.NoError(t, db.Close())
		})
	}
}

func TestRewriteRefuses(t *testing.T) {
	_, err := pebblev2.Rewrite(context.Background(), nil, nil)
	require.EqualError(t, err, "pebblev2: the database is nil: pass one that pebble.Open returned without an error")
	_, err = pebblev2.FiltersOnDisk(nil)
	require.EqualError(t, err, "pebblev2: the database is nil: pass one that pebble.Open returned without an error")

	dir := t.TempDir()
	db := open(t, dir, resting(configured(t, small(pebble.FormatNewest), bloom(t, 10))))
	put(t, db, randomKeys(seeded(t, 85), 100))
	require.NoError(t, db.Close())
	o := configured(t, small(pebble.FormatNewest), bloom(t, 10))
	o.ReadOnly = true
	db = open(t, dir, o)
	_, err = pebblev2.Rewrite(context.Background(), db, nil)
	require.ErrorIs(t, err, pebble.ErrReadOnly)
	require.NoError(t, db.Close())
}
