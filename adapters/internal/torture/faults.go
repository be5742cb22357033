package torture

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// Faults lets one access to files fail. It is safe for concurrent use.
type Faults struct {
	at    int64 // which access, counted from 1; 0 for no access
	how   string
	count atomic.Int64
	full  atomic.Bool // the disk is full from now on
}

// The ways in which an access fails. A short write is one of a write; any other access fails
// with an error instead. A disk that is full fails all writes from then on.
const (
	ioError    = "error"
	shortWrite = "short write"
	diskFull   = "disk full"
)

var waysToFail = []string{ioError, shortWrite, diskFull}

// ErrShort is wrapped by the error for a write that must write the first half of its data, and then
// fail.
var ErrShort = errors.New("short write")

// Next counts an access and returns the error with which it must fail, or nil.
func (f *Faults) Next(write bool) error {
	if f == nil {
		return nil
	}
	hit := f.count.Add(1) == f.at
	switch {
	case hit && f.how == shortWrite && write:
		return fmt.Errorf("fault: %w: %w", ErrShort, syscall.EIO)
	case hit && f.how != diskFull:
		return fmt.Errorf("fault: %w", syscall.EIO)
	case hit:
		f.full.Store(true)
	}
	if write && f.full.Load() {
		return fmt.Errorf("fault: %w", syscall.ENOSPC)
	}
	return nil
}

// goThrough takes a new database through the schedule: the engine's own filters, ours beside them,
// ours alone, and back. It ends at the first error of the engine, after which the database still
// must not answer wrong.
func goThrough(t testing.TB, e enginetest.Engine, s *state, rng *rand.Rand, o order) {
	name := []string{policy.Name, "mine"}[o.Seed%2]
	ours := []*policy.Policy{enginetest.RandomPolicy(rng, 10, name)}
	for _, set := range []enginetest.Setting{
		{Builtin: true}, {Builtin: true, Policies: ours}, {Policies: ours}, {Builtin: true}, {},
	} {
		set.Variant, set.Sync = o.Variant, true
		if o.None {
			set.Builtin, set.Policies = false, nil
		}
		db, err := e.Open(set)
		if err == nil {
			if err = s.step(rng, db); err != nil && !errors.Is(err, enginetest.ErrWrong) {
				err = errors.Join(err, s.wrongAfter(db))
			}
			require.NotErrorIs(t, err, enginetest.ErrWrong)
			err = errors.Join(err, db.Close())
		}
		if err != nil {
			fmt.Println(surfaced, err)
			return
		}
	}
}

// step loads the database, moves its tables, and reads.
func (s *state) step(rng *rand.Rand, db enginetest.DB) error {
	for range 3 {
		for range db.Ways() {
			if err := s.change(s.drawBatch(rng, db, 60)); err != nil {
				return err
			}
		}
		if err := db.Flush(); err != nil {
			return err
		}
	}
	for range 50 {
		key := s.key(rng.Intn(modelKeys))
		if err := s.get(db, key); err != nil {
			return err
		}
		if err := s.seek(db, key); err != nil {
			return err
		}
	}
	if _, err := db.Tables(); err != nil {
		return err
	}
	if err := db.Compact(); err != nil {
		return err
	}
	return s.check(db)
}

// wrongAfter looks up the keys whose versions are known after an error, and returns the first wrong
// answer.
func (s *state) wrongAfter(db enginetest.DB) error {
	for i := range modelKeys {
		if _, unknown := s.pending[i]; unknown {
			continue
		}
		if err := s.get(db, s.key(i)); errors.Is(err, enginetest.ErrWrong) {
			return err
		}
	}
	return nil
}

// endIfHanging ends the process if nothing reaches the files for some time, or all takes too long:
// after a fault engines may wait for themselves, or try again without end.
func (f *Faults) endIfHanging() {
	before := int64(-1)
	for range 10 {
		if before == f.count.Load() {
			break
		}
		before = f.count.Load()
		time.Sleep(time.Second)
	}
	fmt.Println(hung)
	_ = pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
	os.Exit(1)
}

// What a child process prints.
const (
	hung     = "hung"
	surfaced = "surfaced:"
	didIOs   = "I/Os:"
)

// panicOfOurs matches the stack of a panic, or of a hanging goroutine, that has a frame of ours.
var panicOfOurs = regexp.MustCompile(`\[running\]:.*\n(?:.+\n)*?` +
	`.*levelbloom/(?:policy|adapters/(?:goleveldb|pebblev[12]))\.`)

// In each run one I/O fails, in one of several ways. Nothing of ours panics, the database answers
// nothing wrong, and opened again it has all that it acknowledged. A fault that shows without
// filters too is the engine's own.
func testFaults(t *testing.T, target Target) {
	testkit.Large(t)
	rng := testkit.Rand(t, enginetest.Seed())
	variants := len(target.Volatile(t).Variants())
	var total int64
	out, err := inChild(t, newDir(t), order{Task: taskSchedule, Seed: rng.Int63()})
	require.NoError(t, err, out)
	_, after, _ := strings.Cut(out, didIOs)
	total, err = strconv.ParseInt(strings.Fields(after)[0], 10, 64)
	require.NoError(t, err)

	var outcomes = map[string]int{}
	try := func(n int64, how string) {
		o := order{Task: taskSchedule, Seed: rng.Int63(), Variant: rng.Intn(variants),
			Fault: n, How: how}
		outcome, fault := runFault(t, o)
		outcomes[outcome]++
		if fault == "" {
			return
		}
		o.None = true
		for o.Fault = max(1, n-15); o.Fault <= n+15; o.Fault++ { // other goroutines have I/Os too
			if _, without := runFault(t, o); without != "" {
				outcomes["fault of the engine's own"]++
				t.Logf("without filters too: %s", without)
				return
			}
		}
		t.Error(fault)
	}
	if *faults == 0 {
		for n := int64(1); n <= total; n++ {
			for _, how := range waysToFail {
				try(n, how)
			}
		}
	}
	for i := range *faults {
		try(1+rng.Int63n(total), waysToFail[i%len(waysToFail)])
	}
	t.Logf("%d I/Os in the schedule, outcomes: %v", total, outcomes)
}

// runFault obeys an order with a fault and checks the database afterwards. It returns what became
// of the process, and what is wrong, if anything.
func runFault(t testing.TB, o order) (outcome, fault string) {
	dir := newDir(t)
	defer os.RemoveAll(dir)
	out, err := inChild(t, dir, o)
	switch {
	case panicOfOurs.MatchString(out):
		return "panic", out
	case strings.Contains(out, hung):
		outcome = "hung"
	// While a panic of Pebble unwinds, another goroutine may find its mutex unlocked: a fatal error.
	case strings.Contains(out, "panic: "), strings.Contains(out, "fatal error: "):
		outcome = "engine gave up"
	case err != nil:
		return "wrong", out
	case strings.Contains(out, surfaced):
		outcome = "error"
	default:
		outcome = "no error"
	}
	o.Task, o.Fault = taskCheck, 0
	if again, err := inChild(t, dir, o); err != nil {
		return outcome, out + "\nthen " + again
	}
	return outcome, ""
}
