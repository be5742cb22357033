package torture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A process that uses a database is killed at random moments, also while it opens the database.
// What it acknowledged is there afterwards, and filterdump finds no fault in the tables.
func testKill(t *testing.T, target Target) {
	testkit.Large(t)
	filterdump := buildFilterdump(t)
	rng := testkit.Rand(t, enginetest.Seed())
	variants := target.Volatile(t).Variants()
	perDatabase := max(5, *rounds/20)
	first := rng.Intn(len(variants))
	var dir string
	whileOpening, batches, verified := 0, 0, 0
	for round := range *rounds {
		if round%perDatabase == 0 {
			dir = newDir(t)
		}
		o := order{Task: taskWork, None: *none,
			Variant: (first + round/perDatabase) % len(variants)}
		read := func() *state {
			s := readState(t, filepath.Join(dir, "state"), variants[o.Variant])
			require.NoError(t, s.file.Close())
			return s
		}
		before := read().batches
		o.Seed = rng.Int63()
		delay := time.Duration(rng.Intn(400)) * time.Millisecond
		if rng.Intn(3) == 0 {
			delay = time.Duration(rng.Intn(20)) * time.Millisecond
		}
		killed(t, dir, o, delay)
		s := read()
		if s.last == opening {
			whileOpening++
		}
		batches += s.batches - before
		if rng.Intn(2) == 0 && round != *rounds-1 {
			continue // the next process finds what this one left
		}
		o.Task, o.Seed = taskCheck, rng.Int63()
		out, err := inChild(t, dir, o)
		require.NoError(t, err, "round %d: %s", round, out)
		requireSound(t, filterdump, filepath.Join(dir, "db"))
		verified++
	}
	t.Logf("%d rounds, %d of them killed while opening; %d batches acknowledged; "+
		"verified %d times", *rounds, whileOpening, batches, verified)
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
	c := exec.Command(self, "-test.run=^TestTorture$", "-test.paniconexit0")
	c.Dir, c.Env = dir, append(os.Environ(), orderVariable+"="+string(text))
	_, err = c.StdinPipe()
	require.NoError(t, err)
	return c
}

// inChild obeys an order in a child process, and returns what that printed.
func inChild(t testing.TB, dir string, o order) (out string, err error) {
	b, err := command(t, dir, o).CombinedOutput()
	return fmt.Sprintf("%+v: %s", o, b), err
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
