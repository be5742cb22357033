package enginetest

import (
	"bytes"
	"flag"
	"maps"
	"math/rand"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

var (
	soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak runs")
	soakSeed = flag.Int64("seed", 0, "seed of the random tests; 0 takes one from the clock")
)

// Seed returns the seed of random tests: that of flag -seed, or one from the clock.
func Seed() int64 {
	if *soakSeed != 0 {
		return *soakSeed
	}
	return time.Now().UnixNano()
}

// Soak uses databases in random ways, from several goroutines, and opens them again with other
// settings all the time. No key may be lost, none may come back, and no goroutine may be left.
//
//	go test -race -run TestSoak ./adapters/pebblev2 -soak 10m -timeout 15m
//
// A failure prints its seed, and -seed takes it: every goroutine then draws the same operations,
// but how far each gets, and in which order they run, is up to the machine.
func Soak(t *testing.T, newEngine func(t testing.TB) Engine) {
	rng := policytest.Rand(t, Seed())
	goroutines := runtime.NumGoroutine()
	var total policy.Counters
	databases, rounds := 0, 0
	idle := func() bool { // some rounds have no filters of ours
		return total.MayContain == 0 || total.ReadsAvoided == 0 || total.Filters == 0
	}
	end := time.Now().Add(*soakTime)
	for ; time.Now().Before(end) || idle() && databases < 100; databases++ {
		s := newSoaked(t, newEngine(t), rng)
		for i := 0; i < 6 && (i == 0 || time.Now().Before(end)); i++ {
			for _, counted := range s.round(t) {
				c := counted.Snapshot()
				total.MayContain += c.MayContain
				total.ReadsAvoided += c.ReadsAvoided
				total.Filters += c.Filters
			}
			if t.Failed() {
				return // the goroutine that failed has left things open
			}
			rounds++
		}
	}
	t.Logf("%d databases, %d rounds, %d checks, %d reads avoided, %d filters built",
		databases, rounds, total.Checks(), total.ReadsAvoided, total.Filters)
	require.False(t, idle(), "%+v", total)
	requireGoroutines(t, goroutines)
}

// requireGoroutines requires that no more than n goroutines are left. It waits for those that end.
func requireGoroutines(t testing.TB, n int) {
	for range 1000 {
		if runtime.NumGoroutine() <= n {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	var stacks strings.Builder
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 1))
	t.Fatalf("there were %d goroutines, now there are %d:\n%s", n, runtime.NumGoroutine(), &stacks)
}

// soaked is a database and the workers that use it. Each has keys of its own, so it knows their
// values.
type soaked struct {
	engine  Engine
	variant int
	rng     *rand.Rand
	workers []*worker
}

func newSoaked(t testing.TB, e Engine, rng *rand.Rand) *soaked {
	s := &soaked{engine: e, variant: rng.Intn(len(e.Variants())), rng: rng}
	for i := range 3 {
		s.workers = append(s.workers,
			&worker{t: t, Model: NewModel(byte('a'+i), e.Variants()[s.variant])})
	}
	return s
}

// round opens the database with some setting, lets the workers work, and closes it. It returns the
// policies in use.
func (s *soaked) round(t testing.TB) []*policy.Counted {
	setting, counted := s.setting()
	db := open(t, s.engine, setting)
	end := time.Now().Add(time.Duration(s.rng.Int63n(1 + int64(min(*soakTime/8, 2*time.Second)))))
	var working sync.WaitGroup
	work := func(f func(rng *rand.Rand)) {
		rng := rand.New(rand.NewSource(s.rng.Int63()))
		working.Add(1)
		go func() {
			defer working.Done()
			for time.Now().Before(end) && !t.Failed() {
				f(rng)
			}
		}()
	}
	for _, w := range s.workers {
		w.db = db
		work(w.act)
	}
	work(func(rng *rand.Rand) { disturb(t, db, rng) })
	working.Wait()
	if t.Failed() {
		return counted
	}
	for _, w := range s.workers {
		w.checkSnapshot()
		require.NoError(t, w.Check(w.db))
	}
	require.NoError(t, db.Close())
	return counted
}

// setting draws a setting, and counts what its policies do.
func (s *soaked) setting() (setting Setting, counted []*policy.Counted) {
	setting = RandomSetting(s.rng, s.variant)
	for i, p := range setting.Policies {
		counted = append(counted, policy.Count(p))
		setting.Policies[i] = counted[i]
	}
	return setting, counted
}

// RandomSetting draws a setting for a variant: with the engine's own filter or without, and with up
// to three policies of any kind, which may share names.
func RandomSetting(rng *rand.Rand, variant int) Setting {
	s := Setting{Variant: variant, Builtin: rng.Intn(3) == 0, Large: rng.Intn(2) == 0}
	for range []int{0, 1, 1, 2, 3}[rng.Intn(5)] { // policies, the last of which builds
		kind := Kinds[rng.Intn(len(Kinds))]
		s.Policies = append(s.Policies,
			kind.MustNew(2+20*rng.Float64(), names[rng.Intn(len(names))]))
	}
	return s
}

// disturb moves tables about under the workers.
func disturb(t testing.TB, db DB, rng *rand.Rand) {
	time.Sleep(time.Duration(rng.Intn(5)) * time.Millisecond)
	switch rng.Intn(8) {
	case 0:
		require.NoError(t, db.Compact())
	case 1:
		_, err := db.Tables()
		require.NoError(t, err)
		db.Checks()
	default:
		require.NoError(t, db.Flush())
	}
}

// worker uses the keys of its model.
type worker struct {
	Model
	t       testing.TB
	db      DB
	version uint64

	snapshot Snapshot
	then     Model // when snapshot was taken
}

func (w *worker) anyKey(rng *rand.Rand) []byte { return w.Key(rng.Intn(ModelKeys)) }

// act does one thing at random.
func (w *worker) act(rng *rand.Rand) {
	switch n := rng.Intn(100); {
	case n < 30:
		w.apply(rng, 1)
	case n < 42:
		w.apply(rng, 1+rng.Intn(50))
	case n < 60:
		require.NoError(w.t, w.Get(w.db, w.anyKey(rng)))
	case n < 92:
		require.NoError(w.t, w.Seek(w.db, w.anyKey(rng)))
	case n < 94:
		w.deleteRange(w.anyKey(rng), w.anyKey(rng))
	case n < 97:
		w.checkSnapshot()
		var err error
		w.snapshot, err = w.db.Snapshot()
		require.NoError(w.t, err)
		w.then = w.Model
		w.then.Keys = maps.Clone(w.Keys)
	case w.snapshot != nil:
		require.NoError(w.t, w.then.Seek(w.snapshot, w.anyKey(rng)))
	}
}

// apply sets and deletes keys.
func (w *worker) apply(rng *rand.Rand, n int) {
	changes := map[string]Change{}
	for range n {
		key := w.anyKey(rng)
		w.version++
		changes[string(key)] = Change{key, Value(w.version)}
		w.Keys[string(key)] = w.version
		if rng.Intn(4) == 0 {
			changes[string(key)] = Change{Key: key}
			delete(w.Keys, string(key))
		}
	}
	way := 0
	if n > 1 {
		way = rng.Intn(w.db.Ways())
	}
	require.NoError(w.t, w.db.Apply(way, sortedChanges(changes)))
}

// sortedChanges returns the changes in the order of their keys.
func sortedChanges(changes map[string]Change) (all []Change) {
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		all = append(all, changes[key])
	}
	return all
}

func (w *worker) deleteRange(start, end []byte) {
	if bytes.Compare(start, end) > 0 {
		start, end = end, start
	}
	require.NoError(w.t, w.db.DeleteRange(start, end))
	maps.DeleteFunc(w.Keys, func(key string, _ uint64) bool {
		return key >= string(start) && key < string(end)
	})
}

// checkSnapshot requires that the snapshot, if there is one, has what there was when it was taken.
func (w *worker) checkSnapshot() {
	if w.snapshot == nil {
		return
	}
	require.NoError(w.t, w.then.Check(w.snapshot))
	require.NoError(w.t, w.snapshot.Close())
	w.snapshot = nil
}
