package pebblev1_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble"
	engine "github.com/cockroachdb/pebble/bloom"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

var (
	soakTime = flag.Duration("soak", 2*time.Second, "how long TestSoak runs")
	soakSeed = flag.Int64("seed", 0, "seed of TestSoak; 0 takes one from the clock")
)

// TestSoak works on databases in every way that matters to filters, from several goroutines, and opens them again with
// other settings all the time. No key may be lost, none may come back, and no goroutine may stay behind.
//
//	go test -race -run TestSoak ./adapters/pebblev1 -soak 10m -timeout 15m
//
// The seed of a failure is printed, and -seed takes it: every goroutine draws the same operations again, but how far it
// gets in them, and in which order the goroutines run, is up to the machine.
func TestSoak(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	rng := seeded(t, seed)
	goroutines := runtime.NumGoroutine()
	var counted []*policy.Counted
	databases, rounds := 0, 0
	idle := func() bool { // some rounds have no filters of ours
		c := sum(counted)
		return c.MayContain == 0 || c.ReadsAvoided == 0 || c.Filters == 0
	}
	for end := time.Now().Add(*soakTime); time.Now().Before(end) || idle() && databases < 100; databases++ {
		s := newSoaked(t, rng)
		for i := 0; i < 6 && (i == 0 || time.Now().Before(end)); i++ {
			counted = append(counted, s.round(t)...)
			if t.Failed() {
				return // the goroutine that failed has left things open
			}
			rounds++
		}
	}
	c := sum(counted)
	t.Logf("%d databases, %d rounds, %d checks, %d reads avoided, %d filters built",
		databases, rounds, c.Checks(), c.ReadsAvoided, c.Filters)
	require.Positive(t, c.MayContain)
	require.Positive(t, c.ReadsAvoided)
	require.Positive(t, c.Filters)
	requireGoroutines(t, goroutines)
}

// requireGoroutines requires that no more than n goroutines are left. Those that have been told to end get time for it.
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

// soaked is a database and the workers that use it. Each has keys of its own, so that it knows what they are.
type soaked struct {
	dir      string
	format   pebble.FormatMajorVersion
	comparer *pebble.Comparer
	rng      *rand.Rand
	workers  []*worker
}

func newSoaked(t testing.TB, rng *rand.Rand) *soaked {
	s := &soaked{
		dir:      t.TempDir(),
		format:   formats[rng.Intn(len(formats))],
		comparer: comparers[rng.Intn(len(comparers))],
		rng:      rng,
	}
	for i := range 3 {
		s.workers = append(s.workers, &worker{id: byte('a' + i), keys: map[string]uint64{}})
	}
	return s
}

// round opens the database with some setting, lets the workers work, and closes it. It returns what counted.
func (s *soaked) round(t testing.TB) []*policy.Counted {
	o, counted := s.options(t)
	db := open(t, s.dir, o)
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
		w.t, w.db, w.options, w.split = t, db, o, s.comparer.Split
		w.table = filepath.Join(s.dir, fmt.Sprintf("table-%c", w.id))
		work(w.act)
	}
	work(func(rng *rand.Rand) { disturb(t, db, rng) })
	working.Wait()
	if t.Failed() {
		return counted
	}
	for _, w := range s.workers {
		w.checkSnapshot()
		w.checkAll()
	}
	require.NoError(t, db.Close())
	return counted
}

// options draws a setting.
func (s *soaked) options(t testing.TB) (o *pebble.Options, counted []*policy.Counted) {
	o = small(s.format)
	o.Comparer = s.comparer
	if s.rng.Intn(2) == 0 {
		large(o)
	}
	o.MemTableSize = 64 << 10
	o.MaxOpenFiles = 50
	p := func() policy.Policy {
		name := policy.WithName([]string{policy.Name, policy.NameGoLevelDB, "mine"}[s.rng.Intn(3)])
		bitsPerKey := 1 + 20*s.rng.Float64()
		var p policy.Policy
		switch s.rng.Intn(3) {
		case 0:
			p = bloom(t, bitsPerKey, name)
		case 1:
			p = blocked(t, bitsPerKey, name)
		case 2: // what binary fuse filters take, with some hundred keys
			p = fuse(t, []float64{11.6, 18, 26}[s.rng.Intn(3)], name)
		}
		c := policy.Count(p)
		counted = append(counted, c)
		return c
	}
	if s.rng.Intn(3) == 0 {
		o.Levels[0].FilterPolicy = engine.FilterPolicy(1 + s.rng.Intn(20))
	}
	switch s.rng.Intn(5) {
	case 0: // as Pebble is, without filters or with its own
	case 1:
		configured(t, o, p())
	case 2:
		configured(t, o, p(), pebblev1.WithL6())
	case 3:
		configured(t, configured(t, o, p()), p(), pebblev1.WithL6())
	case 4:
		levels := make([]policy.Policy, 1+s.rng.Intn(7))
		for level := range levels {
			if s.rng.Intn(4) > 0 {
				levels[level] = p()
			}
		}
		require.NoError(t, pebblev1.ConfigureLevels(o, levels))
	}
	return o, counted
}

// disturb moves tables about under the workers.
func disturb(t testing.TB, db *pebble.DB, rng *rand.Rand) {
	time.Sleep(time.Duration(rng.Intn(5)) * time.Millisecond)
	switch rng.Intn(8) {
	case 0:
		compact(t, db)
	case 1:
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.Intn(50))*time.Millisecond)
		defer cancel()
		_, err := pebblev1.Rewrite(ctx, db, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			require.NoError(t, err)
		}
	case 2:
		_, err := pebblev1.FiltersOnDisk(db)
		require.NoError(t, err)
		_ = db.Metrics()
	default:
		require.NoError(t, db.Flush())
	}
}

// worker uses the keys that begin with its id.
type worker struct {
	id   byte
	keys map[string]uint64 // what the database shall have: the version of each key

	t       testing.TB
	db      *pebble.DB
	options *pebble.Options
	split   pebble.Split
	table   string // where to write tables for ingestion
	version uint64

	snapshot *pebble.Snapshot
	then     map[string]uint64 // keys when snapshot was taken
}

const workerKeys = 1000

// key returns one of the worker's keys. Four each have their first 8 bytes in common.
func (w *worker) key(i int) []byte {
	key := binary.BigEndian.AppendUint64(nil, uint64(i/4+1)*0x9e3779b97f4a7c15)
	key[0] = w.id
	return append(key, make([]byte, i%4)...)
}

func (w *worker) anyKey(rng *rand.Rand) []byte { return w.key(rng.Intn(workerKeys)) }

// value returns what is written as a version of a key.
func (w *worker) value(version uint64) []byte {
	return append(binary.BigEndian.AppendUint64(nil, version), value([]byte{byte(version)})[:version%64]...)
}

// act does one thing at random.
func (w *worker) act(rng *rand.Rand) {
	switch n := rng.Intn(100); {
	case n < 30:
		w.write(w.db, w.anyKey(rng), rng)
	case n < 40:
		batch := w.db.NewBatch()
		for range rng.Intn(50) {
			w.write(batch, w.anyKey(rng), rng)
		}
		require.NoError(w.t, batch.Commit(pebble.NoSync))
	case n < 60:
		key := w.anyKey(rng)
		version, ok := w.keys[string(key)]
		w.get(w.db, key, version, ok)
	case n < 92:
		w.seek(w.db, w.keys, w.anyKey(rng))
	case n < 94:
		w.deleteRange(w.anyKey(rng), w.anyKey(rng))
	case n < 96:
		w.ingest(rng)
	case n < 98:
		w.checkSnapshot()
		w.snapshot, w.then = w.db.NewSnapshot(), maps.Clone(w.keys)
	case w.snapshot != nil:
		w.seek(w.snapshot, w.then, w.anyKey(rng))
	}
}

// write sets or deletes a key.
func (w *worker) write(to pebble.Writer, key []byte, rng *rand.Rand) {
	if rng.Intn(4) == 0 {
		require.NoError(w.t, to.Delete(key, pebble.NoSync))
		delete(w.keys, string(key))
		return
	}
	w.version++
	require.NoError(w.t, to.Set(key, w.value(w.version), pebble.NoSync))
	w.keys[string(key)] = w.version
}

func (w *worker) deleteRange(start, end []byte) {
	if bytes.Compare(start, end) > 0 {
		start, end = end, start
	}
	require.NoError(w.t, w.db.DeleteRange(start, end, pebble.NoSync))
	maps.DeleteFunc(w.keys, func(key string, _ uint64) bool { return key >= string(start) && key < string(end) })
}

func (w *worker) ingest(rng *rand.Rand) {
	add := map[string]uint64{}
	for range 1 + rng.Intn(50) {
		w.version++
		add[string(w.anyKey(rng))] = w.version
	}
	var keys, values [][]byte
	for _, key := range slices.Sorted(maps.Keys(add)) {
		keys, values = append(keys, []byte(key)), append(values, w.value(add[key]))
	}
	writeTableFor(w.t, w.table, w.options, tableFormat(w.db), keys, values)
	ingest(w.t, w.db, w.table)
	maps.Copy(w.keys, add)
}

// get requires that a key has a version, or that there is none.
func (w *worker) get(from pebble.Reader, key []byte, version uint64, ok bool) {
	got, closer, err := from.Get(key)
	if !ok {
		require.ErrorIs(w.t, err, pebble.ErrNotFound, "key %x", key)
		return
	}
	require.NoError(w.t, err, "key %x, version %d", key, version)
	require.Equal(w.t, w.value(version), got, "key %x", key)
	require.NoError(w.t, closer.Close())
}

// seek requires that SeekPrefixGE finds the keys that have the prefix of key and are not below it.
func (w *worker) seek(in pebble.Reader, keys map[string]uint64, key []byte) {
	var want []string
	prefix := key[:w.split(key)]
	for i := range 4 {
		k := string(key[:8]) + string(make([]byte, i))
		if _, ok := keys[k]; ok && k >= string(key) && bytes.Equal(prefix, []byte(k)[:w.split([]byte(k))]) {
			want = append(want, k)
		}
	}
	iter, err := in.NewIter(&pebble.IterOptions{UseL6Filters: true})
	require.NoError(w.t, err)
	var got []string
	for valid := iter.SeekPrefixGE(key); valid; valid = iter.Next() {
		got = append(got, string(iter.Key()))
		require.Equal(w.t, w.value(keys[string(iter.Key())]), iter.Value(), "key %x", iter.Key())
	}
	require.NoError(w.t, iter.Close())
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

func (w *worker) checkAll() {
	w.check(w.db, w.keys)
	for i := range workerKeys {
		w.seek(w.db, w.keys, w.key(i))
	}
}

// check looks every key up that the worker may have, and scans for those that it has.
func (w *worker) check(in pebble.Reader, keys map[string]uint64) {
	for i := range workerKeys {
		key := w.key(i)
		version, ok := keys[string(key)]
		w.get(in, key, version, ok)
	}
	iter, err := in.NewIter(&pebble.IterOptions{LowerBound: []byte{w.id}, UpperBound: []byte{w.id + 1}})
	require.NoError(w.t, err)
	var got []string
	for valid := iter.First(); valid; valid = iter.Next() {
		got = append(got, string(iter.Key()))
		require.Equal(w.t, w.value(keys[string(iter.Key())]), iter.Value(), "key %x", iter.Key())
	}
	require.NoError(w.t, iter.Close())
	require.Equal(w.t, slices.Sorted(maps.Keys(keys)), got)
}
