package torture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var rounds = flag.Int("rounds", 10, "how often TestKill kills")

// Kill runs in a test named TestKill, and in its child processes. A process that uses a database is
// killed at random moments, also while it opens the database. What it acknowledged is there
// afterwards, and filterdump finds no fault in the tables.
//
// The test starts its own program again, as a child process with an order. The child writes each
// change to the file "state", hands it to the database, and notes in the file that the database
// acknowledged it. When it was killed, another child compares the database with "state".
func Kill(t *testing.T, target Target) {
	if text := os.Getenv(orderVariable); text != "" {
		var o order
		require.NoError(t, json.Unmarshal([]byte(text), &o))
		o.obey(t, target)
		return
	}
	testkit.Large(t)
	filterdump := buildFilterdump(t)
	rng := testkit.Rand(t, enginetest.Seed())
	variants := len(target.OnDisk(t, t.TempDir()).Variants())
	perDatabase := max(5, *rounds/20)
	first := rng.Intn(variants)
	var dir string
	for round := range *rounds {
		if round%perDatabase == 0 {
			dir = filepath.Join(t.TempDir(), "child")
			require.NoError(t, os.Mkdir(dir, 0o700))
		}
		o := order{Seed: rng.Int63(), Variant: (first + round/perDatabase) % variants, None: *none}
		delay := time.Duration(rng.Intn(400)) * time.Millisecond
		if rng.Intn(3) == 0 {
			delay = time.Duration(rng.Intn(20)) * time.Millisecond // while it opens the database
		}
		killed(t, dir, o, delay)
		if rng.Intn(2) == 0 && round != *rounds-1 {
			continue // the next process finds what this one left
		}
		o.Check, o.Seed = true, rng.Int63()
		out, err := command(t, dir, o).CombinedOutput()
		require.NoError(t, err, "round %d, %+v: %s", round, o, out)
		requireSound(t, filterdump, filepath.Join(dir, "db"))
	}
}

// An order says what a child process does in its working directory: use the database until it is
// killed, or check it.
type order struct {
	Seed    int64
	Variant int
	None    bool // without filters
	Check   bool
}

const orderVariable = "LEVELBLOOM_TORTURE"

func (o order) obey(t *testing.T, target Target) {
	go endWithParent()
	rng := rand.New(rand.NewSource(o.Seed))
	*none = o.None
	// goleveldb cannot open a database whose creation was interrupted, which has nothing to lose.
	if info, err := os.Stat("state"); err != nil || info.Size() == 0 {
		require.NoError(t, os.RemoveAll("db"))
	}
	e := target.OnDisk(t, "")
	s := readState(t, "state", e.Variants()[o.Variant])
	s.ways = target.Ways
	if !o.Check {
		fmt.Print(ready)
	}
	for {
		set := randomSetting(rng, o.Variant)
		set.Sync = true // Pebble's log is in memory else
		db := s.open(t, e, set)
		if o.Check {
			require.NoError(t, db.Close())
			return
		}
		done := disturb(t, db, rng.Int63())
		for range rng.Intn(200) {
			require.NoError(t, s.act(rng, db))
		}
		done()
		require.NoError(t, db.Close())
	}
}

// buildFilterdump returns the path of the program.
func buildFilterdump(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "filterdump.exe")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path,
		"github.com/levelbloom/levelbloom/sstable/filterdump").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// command returns a child process that obeys an order in a directory. Its standard input ends with
// this process.
func command(t testing.TB, dir string, o order) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(o)
	require.NoError(t, err)
	c := exec.Command(self, "-test.run=^TestKill$", "-test.paniconexit0")
	c.Dir, c.Env = dir, append(os.Environ(), orderVariable+"="+string(text))
	_, err = c.StdinPipe()
	require.NoError(t, err)
	return c
}

// killed obeys an order in a child process, which it kills a while after that begins to open the
// database. The process must not end before it is killed.
func killed(t testing.TB, dir string, o order, delay time.Duration) {
	c := command(t, dir, o)
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	c.Stderr = c.Stdout
	require.NoError(t, c.Start())
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	var rest bytes.Buffer
	if err == nil && line == ready {
		time.AfterFunc(delay, func() { _ = c.Process.Kill() })
	}
	_, err2 := io.Copy(&rest, out)
	require.NoError(t, errors.Join(err, err2))
	err = c.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, -1, exit.ExitCode(), "%+v: %s%s", o, line, &rest)
}

// endWithParent ends this process when the one that started it has ended.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// ready is what a child process prints when it begins.
const ready = "ready\n"
