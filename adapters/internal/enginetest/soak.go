package enginetest

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
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
	soakSeed = flag.Int64("seed", 0, "seed of TestSoak; 0 takes one from the clock")
)

// Soak uses databases in random ways, from several goroutines, and opens them again with other
// settings all the time. No key may be lost, none may come back, and no goroutine may be left.
//
//	go test -race -run TestSoak ./adapters/pebblev2 -soak 10m -timeout 15m
//
// A failure prints its seed, and -seed takes it: every goroutine then draws the same operations,
// but how far each gets, and in which order they run, is up to the machine.
func Soak(t *testing.T, newEngine func(t testing.TB) Engine) {
	seed := *soakSeed
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	rng := policytest.Rand(t, seed)
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
		s.workers = append(s.workers, &worker{
			t: t, id: byte('a' + i), keys: map[string]uint64{},
			prefix: e.Variants()[s.variant].Prefix,
		})
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
		w.check(w.db, w.keys)
	}
	require.NoError(t, db.Close())
	return counted
}

// setting draws a setting.
func (s *soaked) setting() (setting Setting, counted []*policy.Counted) {
	setting = Setting{Variant: s.variant, Builtin: s.rng.Intn(3) == 0, Large: s.rng.Intn(2) == 0}
	for range []int{0, 1, 1, 2, 3}[s.rng.Intn(5)] { // policies, the last of which builds
		kind := Kinds[s.rng.Intn(len(Kinds))]
		p := policy.Count(kind.MustNew(2+20*s.rng.Float64(), names[s.rng.Intn(len(names))]))
		setting.Policies = append(setting.Policies, p)
		counted = append(counted, p)
	}
	return setting, counted
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

// worker uses the keys that begin with its id.
type worker struct {
	t      testing.TB
	id     byte
	prefix func(key []byte) []byte
	keys   map[string]uint64 // what the database must contain: the version of each key

	db      DB
	version uint64

	snapshot Snapshot
	then     map[string]uint64 // keys when snapshot was taken
}

const workerKeys = 600

// key returns one of the worker's keys. Every four share their first 8 bytes.
func (w *worker) key(i int) []byte {
	key := binary.BigEndian.AppendUint64(nil, uint64(i/4+1)*0x9e3779b97f4a7c15)
	key[0] = w.id
	return append(key, make([]byte, i%4)...)
}

func (w *worker) anyKey(rng *rand.Rand) []byte { return w.key(rng.Intn(workerKeys)) }

// value returns what is written as a version of a key.
func (w *worker) value(version uint64) []byte {
	return append(
		binary.BigEndian.AppendUint64(nil, version),
		value([]byte{byte(version)})[:version%64]...)
}

// act does one thing at random.
func (w *worker) act(rng *rand.Rand) {
	switch n := rng.Intn(100); {
	case n < 30:
		w.apply(rng, 1)
	case n < 42:
		w.apply(rng, 1+rng.Intn(50))
	case n < 60:
		key := w.anyKey(rng)
		version, ok := w.keys[string(key)]
		w.get(w.db, key, version, ok)
	case n < 92:
		w.seek(w.db, w.keys, w.anyKey(rng))
	case n < 94:
		w.deleteRange(w.anyKey(rng), w.anyKey(rng))
	case n < 97:
		w.checkSnapshot()
		var err error
		w.snapshot, err = w.db.Snapshot()
		require.NoError(w.t, err)
		w.then = maps.Clone(w.keys)
	case w.snapshot != nil:
		w.seek(w.snapshot, w.then, w.anyKey(rng))
	}
}

// apply sets and deletes keys.
func (w *worker) apply(rng *rand.Rand, n int) {
	changes := map[string]Change{}
	for range n {
		key := w.anyKey(rng)
		w.version++
		changes[string(key)] = Change{key, w.value(w.version)}
		w.keys[string(key)] = w.version
		if rng.Intn(4) == 0 {
			changes[string(key)] = Change{Key: key}
			delete(w.keys, string(key))
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
	maps.DeleteFunc(w.keys, func(key string, _ uint64) bool {
		return key >= string(start) && key < string(end)
	})
}

// get requires that a key has a version, or that there is none.
func (w *worker) get(from Reader, key []byte, version uint64, ok bool) {
	got, err := from.Get(key)
	require.NoError(w.t, err)
	if !ok {
		require.Nil(w.t, got, "deleted key %x", key)
		return
	}
	require.Equal(w.t, w.value(version), got, "key %x, version %d", key, version)
}

// seek requires that Seek finds the keys that have the prefix of key and are not below it.
func (w *worker) seek(in Reader, keys map[string]uint64, key []byte) {
	var want []Entry
	for i := range 4 {
		k := append(bytes.Clone(key[:8]), make([]byte, i)...)
		version, ok := keys[string(k)]
		if ok && bytes.Compare(k, key) >= 0 && bytes.Equal(w.prefix(key), w.prefix(k)) {
			want = append(want, Entry{string(k), string(w.value(version))})
		}
	}
	got, err := in.Seek(key)
	require.NoError(w.t, err)
	require.Equal(w.t, want, got, "key %x", key)
}

// checkSnapshot requires that the snapshot, if there is one, has what there was when it was taken.
func (w *worker) checkSnapshot() {
	if w.snapshot == nil {
		return
	}
	w.check(w.snapshot, w.then)
	require.NoError(w.t, w.snapshot.Close())
	w.snapshot = nil
}

// check looks up every key that the worker may have, and scans for those that it has.
func (w *worker) check(in Reader, keys map[string]uint64) {
	var want []Entry
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		want = append(want, Entry{key, string(w.value(keys[key]))})
	}
	for i := range workerKeys {
		key := w.key(i)
		version, ok := keys[string(key)]
		w.get(in, key, version, ok)
		w.seek(in, keys, key)
	}
	got, err := in.Scan([]byte{w.id}, []byte{w.id + 1})
	require.NoError(w.t, err)
	require.Equal(w.t, want, got, fmt.Sprintf("keys of %c", w.id))
}
