// Package torture tests what a database with our filters still has after crashes, loss of power
// and failing disks: one suite for all engines and all kinds of filter. It is test
// code. Several packages' tests share it, so its files cannot end in _test.go.
//
// An adapter's tests fill in a [Target] and call [Run]. .github/TESTING.md says what is tested,
// how often, and how to run it for longer.
//
// In TestTorture/Kill and /Faults the test starts its own program again, as a child process with an
// order. The child writes each change to the file "state", hands it to the database, and notes in
// the file that the database acknowledged it. When it has ended, another child compares the
// database with "state".
package torture

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

var (
	rounds = flag.Int("rounds", 10,
		"how often TestTorture kills; it cuts the power twice as often, and busy five times")
	faults = flag.Int("faults", 10,
		"how many I/Os TestTorture lets fail, one in each run; 0 is every one, in every way")
	none = flag.Bool("none", false,
		"kill, cut the power and soak without any filter, which shows the engine's own faults")
)

// A Target is an engine on storage that can be tortured.
type Target struct {
	// OnDisk returns the engine of the database in directory "db" below dir, which is "" for the
	// working directory. Every access to its files consults f, which may be nil.
	OnDisk func(t testing.TB, dir string, f *Faults) enginetest.Engine
	// Ways is in how many of its ways the database is written to; 0 is all.
	Ways int
	// Volatile returns the engine of a new database in storage that can lose what was not synced.
	Volatile func(t testing.TB) Volatile
}

// Volatile is an engine on storage that can lose what was not synced.
type Volatile struct {
	enginetest.Engine
	Ways int // as in Target
	// Cut cuts the power. When all databases are closed, restore returns the engine as the cut
	// left it.
	Cut func(rng *rand.Rand) (restore func() Volatile)
}

// Run runs the suite in a test named TestTorture, and in its child processes.
func Run(t *testing.T, target Target) {
	if text := os.Getenv(orderVariable); text != "" {
		var o order
		require.NoError(t, json.Unmarshal([]byte(text), &o))
		o.run(t, target)
		return
	}
	t.Run("PowerLoss", func(t *testing.T) { testPowerLoss(t, target) })
	t.Run("Kill", func(t *testing.T) { testKill(t, target) })
	t.Run("Faults", func(t *testing.T) { testFaults(t, target) })
}

// order says what a child process does in its working directory.
type order struct {
	Seed    int64
	Variant int
	Task    task

	Fault int64  // taskSchedule: which I/O fails, counted from 1; 0 for none
	How   string // taskSchedule: one of waysToFail
	None  bool   // without filters
}

type task string

const (
	taskWork     task = "work until killed"
	taskCheck    task = "open, check and close"
	taskSchedule task = "go through the schedule with a fault"
)

const orderVariable = "LEVELBLOOM_TORTURE"

func (o order) run(t *testing.T, target Target) {
	go endWithParent()
	rng := rand.New(rand.NewSource(o.Seed))
	*none = o.None
	// goleveldb cannot open a database whose creation was interrupted, which has nothing to lose.
	if s := readState(t, "state", enginetest.Variant{}); s.last != opened && s.version == 0 {
		require.NoError(t, os.RemoveAll("db"))
	}
	f := &Faults{at: o.Fault, how: o.How}
	e := target.OnDisk(t, "", f)
	s := readState(t, "state", e.Variants()[o.Variant])
	s.ways = target.Ways
	switch o.Task {
	case taskWork:
		fmt.Print(ready)
		work(t, e, s, rng, o.Variant)
	case taskCheck:
		check(t, e, s, rng, o.Variant)
	case taskSchedule:
		if o.Fault > 0 {
			go f.endIfHanging()
		}
		goThrough(t, e, s, rng, o)
		fmt.Printf("%s %d\n", didIOs, f.count.Load())
	}
}

// work uses the database with one setting after another.
func work(t testing.TB, e enginetest.Engine, s *state, rng *rand.Rand, variant int) {
	for {
		db := s.open(t, e, randomSetting(rng, variant))
		done := disturb(t, db, rng.Int63())
		for range rng.Intn(200) {
			require.NoError(t, s.act(rng, db))
		}
		done()
		require.NoError(t, db.Close())
	}
}

// check opens the database, checks what it has, and closes it.
func check(t testing.TB, e enginetest.Engine, s *state, rng *rand.Rand, variant int) {
	require.NoError(t, s.open(t, e, randomSetting(rng, variant)).Close())
}

// randomSetting draws a setting whose changes are on disk when they are acknowledged.
func randomSetting(rng *rand.Rand, variant int) enginetest.Setting {
	s := enginetest.RandomSetting(rng, variant)
	s.Sync = true
	if *none {
		s.Builtin, s.Policies = false, nil
	}
	return s
}

// disturb flushes and compacts the database, reads its numbers, and changes the options that it
// was opened with, which must have no effect on it, until done is called.
func disturb(t testing.TB, db enginetest.DB, seed int64) (done func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	rng := rand.New(rand.NewSource(seed))
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			move := db.Flush
			switch rng.Intn(8) {
			case 0, 1:
				move = db.Compact
			case 2:
				move = func() error {
					db.Checks()
					_, err := db.Tables()
					return err
				}
			case 3:
				p := enginetest.RandomPolicy(rng, 10, policy.Name)
				move = func() error { return db.Reconfigure(p) }
			}
			if err := move(); err != nil {
				t.Errorf("while tables move: %v", err)
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// newDir returns a new directory for child processes.
func newDir(t testing.TB) string {
	dir := filepath.Join(t.TempDir(), "child")
	require.NoError(t, os.Mkdir(dir, 0o700))
	return dir
}
