package torture

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var soakTime = flag.Duration("soak", 2*time.Minute, "how long TestSoak runs, with -large")

// By how many bytes the heap may grow in a soak after its first database: maxGrowth, and maxRecord
// for each database, because package testing keeps records of subtests.
const (
	maxGrowth = 128 << 10
	maxRecord = 4 << 10
)

// Soak uses databases in random ways, from several goroutines, and opens them again with other
// settings all the time. No key may be lost, none may come back, filterdump finds no fault in the
// tables, and at the end there are no more goroutines than at first, and no more memory than after
// the first database.
//
//	go test -race -run TestSoak ./adapters/pebblev2 -large -soak 10m -timeout 15m
//
// A failure prints its seed, and -seed takes it: every goroutine then draws the same operations,
// but how far each gets, and in which order they run, is up to the machine.
func Soak(t *testing.T, target Target) {
	testkit.Large(t)
	filterdump := buildFilterdump(t)
	rng := testkit.Rand(t, enginetest.Seed())
	goroutines := runtime.NumGoroutine()
	databases := 0
	var firstHeap int64
	end := time.Now().Add(*soakTime)
	for ; databases < 2 || time.Now().Before(end); databases++ {
		t.Run(fmt.Sprint(databases), func(t *testing.T) {
			dir := t.TempDir()
			s := newSoaked(target.OnDisk(t, dir), target.Ways, rng)
			// The first one, which is to fill what stays in memory, is opened once.
			more := func(i int) bool { return i < 6 && databases > 0 && time.Now().Before(end) }
			for i := 0; (i == 0 || more(i)) && !t.Failed(); i++ {
				s.round(t)
				requireSound(t, filterdump, filepath.Join(dir, "db"))
			}
		})
		if t.Failed() {
			return // the goroutine that failed has left things open
		}
		for runtime.NumGoroutine() > goroutines { // which may still hold memory
			time.Sleep(10 * time.Millisecond) // go test ends this, and prints what they do
		}
		if databases == 0 {
			firstHeap = heap()
		}
	}
	// If a goroutine of an earlier test was counted at first, one of the last database may be left:
	// goleveldb's holds all its memory for up to a second.
	most := firstHeap + int64(maxGrowth+databases*maxRecord)
	lastHeap := heap()
	for tries := 0; lastHeap > most && tries < 100; tries++ {
		time.Sleep(100 * time.Millisecond)
		lastHeap = heap()
	}
	t.Logf("%d databases; the heap grew by %d bytes", databases, lastHeap-firstHeap)
	require.LessOrEqual(t, lastHeap, most)
}

// heap returns how many bytes are in use, without what the pools of packages keep.
func heap() int64 {
	runtime.GC() // pools hand on to their victims
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// requireSound requires that filterdump finds no fault in a database, as far as it can verify that.
func requireSound(t testing.TB, filterdump, dir string) {
	dump, err := exec.Command(filterdump, "--verify", dir).CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, 2, exit.ExitCode(), "%s", dump)
	}
}

// soaked is a database and the workers that use it. Each has keys of its own, so it knows their
// values.
type soaked struct {
	engine  enginetest.Engine
	variant int
	rng     *rand.Rand
	workers []*worker
}

func newSoaked(e enginetest.Engine, ways int, rng *rand.Rand) *soaked {
	s := &soaked{engine: e, variant: rng.Intn(len(e.Variants())), rng: rng}
	for i := range 3 {
		w := &worker{state: newState(byte('a'+i), e.Variants()[s.variant])}
		w.ways = ways
		s.workers = append(s.workers, w)
	}
	return s
}

// round opens the database with a random setting, lets the workers work, and closes it.
func (s *soaked) round(t testing.TB) {
	db, err := s.engine.Open(randomSetting(s.rng, s.variant))
	require.NoError(t, err)
	end := time.Now().Add(time.Duration(s.rng.Int63n(1 + int64(min(*soakTime/8, 2*time.Second)))))
	var working sync.WaitGroup
	for _, w := range s.workers {
		rng := rand.New(rand.NewSource(s.rng.Int63()))
		working.Add(1)
		go func() {
			defer working.Done()
			for time.Now().Before(end) && !t.Failed() {
				if err := w.act(rng, db); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	done := disturb(t, db, s.rng.Int63())
	working.Wait()
	done()
	if t.Failed() {
		return
	}
	for _, w := range s.workers {
		require.NoError(t, errors.Join(w.checkSnapshot(), w.check(db)))
	}
	require.NoError(t, db.Close())
}

// worker uses the keys of its state.
type worker struct {
	*state
	snapshot enginetest.Snapshot
	then     model // when snapshot was taken
}

// act does one thing at random, mostly a lookup: these meet those of the other workers.
func (w *worker) act(rng *rand.Rand, db enginetest.DB) (err error) {
	switch n, key := rng.Intn(200), w.key(rng.Intn(modelKeys)); {
	case n == 0:
		if err := w.checkSnapshot(); err != nil {
			return err
		}
		w.then = w.model
		w.then.keys = maps.Clone(w.keys)
		w.snapshot, err = db.Snapshot()
		return err
	case n < 5 && w.snapshot != nil:
		return w.then.seek(w.snapshot, key)
	case n < 180:
		return errors.Join(w.get(db, key), w.seek(db, key))
	}
	return w.state.act(rng, db)
}

// checkSnapshot returns an error if the snapshot, if there is one, has not what there was when it
// was taken.
func (w *worker) checkSnapshot() error {
	if w.snapshot == nil {
		return nil
	}
	taken := w.snapshot
	w.snapshot = nil
	return errors.Join(w.then.check(taken), taken.Close())
}
