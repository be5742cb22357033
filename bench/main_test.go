package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// The tests run this test binary as the program: main reads its own arguments, handles signals and
// exits.
func TestMain(m *testing.M) {
	if os.Getenv("LEVELBLOOM_BENCH_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// program returns the program, which must leave no temporary files.
func program(t *testing.T, args string) *exec.Cmd {
	dir := t.TempDir()
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	})
	p := exec.Command(os.Args[0], strings.Fields(args)...)
	p.Env = append(os.Environ(), "LEVELBLOOM_BENCH_MAIN=1", "TMPDIR="+dir)
	return p
}

// bench runs the program.
func bench(t *testing.T, args string) (stdout, stderr string, status int) {
	p := program(t, args)
	var out, messages strings.Builder
	p.Stdout, p.Stderr = &out, &messages
	_ = p.Run() // the status says it
	for _, line := range strings.Split(out.String(), "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	return out.String(), messages.String(), p.ProcessState.ExitCode()
}

// The first lines are the conclusion, then come a chart and a table.
func TestEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, args := range []string{
		"--engines=goleveldb,pebblev1,pebblev2",
		"--engines=goleveldb,pebblev2 --filters=none,bloom:9 --shape=decimal",
		"--cached --engines=pebblev1,pebblev2 --filters=none,bloom",
	} {
		t.Run(args, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.json")
			stdout, stderr, status := bench(t, args+" --num=8000 --json="+path)
			require.Zero(t, status, stderr)
			cached := strings.Contains(args, "cached")
			require.Equal(t, !cached, strings.HasPrefix(stdout, "Of the reads for absent "))
			require.Equal(t, !cached, strings.Contains(stdout, "█ "), "something is read")
			require.Equal(t, 1, strings.Count(stdout, "\n───"), stdout)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			var records []engines.Record
			written := report.Report{Records: &records}
			require.NoError(t, json.Unmarshal(text, &written))
			require.Equal(t, "go run ./bench "+args+" --num=8000", written.Command)
			require.Equal(t, len(records)+4, strings.Count(stderr, "\n"), "lines of progress")
			if !cached {
				requireFewerReads(t, records)
			}
		})
	}
}

// requireFewerReads requires that filters have the size of their bits per key, and a little for
// what is around them, and avoid reads: those of L6 nearly all.
func requireFewerReads(t *testing.T, counted []engines.Record) {
	reads, size := map[string]float64{}, int64(0)
	for _, n := range counted {
		reads[n.Filter] = n.Absent.PerThousand()
		if n.Filter == "none" {
			size = n.Bytes
			continue
		}
		require.Less(t, reads[n.Filter], reads["none"]/2, "%v", n)
		bits := cmp.Or(map[string]float64{"bloom:9": 9}[n.Filter], 10)
		perKey := 8 * float64(n.Bytes-size) / float64(n.Keys)
		if n.Engine == "goleveldb" || strings.HasSuffix(n.Filter, engines.L6) {
			require.InDelta(t, 1.25*bits, perKey, 0.25*bits+0.05, "%v", n)
		} else { // most keys are in L6
			require.InDelta(t, 0.4*bits, perKey, 0.3*bits, "%v", n)
		}
		switch n.Filter {
		case "ribbon":
			require.Less(t, reads["ribbon"], reads["builtin"], "%v", n)
		case "builtin+L6": // without Configure, pebblev1.Get is Pebble's
			require.Equal(t, n.Engine == "pebblev2", reads["builtin+L6"] < reads["builtin"]/2, "%v", n)
		case "ribbon+L6":
			require.Less(t, reads["ribbon+L6"], reads["builtin+L6"]/2, "%v", n)
		}
	}
}

// An interrupted program prints nothing more, and leaves no files. The signals are Ctrl-C, and
// those of a terminal and of a pipe that somebody closes. What serves a page ends well.
func TestInterruption(t *testing.T) {
	for _, c := range []struct {
		args   string
		signal os.Signal
		lines  int // before the signal; each takes seconds after these
		status int
	}{
		{"--num=50000", os.Interrupt, 3, exitInterrupted},
		{"--num=50000 --engines=pebblev2", syscall.SIGPIPE, 3, exitInterrupted},
		{"play", os.Interrupt, 1, 0},
	} {
		t.Run(c.args, func(t *testing.T) {
			p := program(t, c.args)
			r, w, err := os.Pipe()
			require.NoError(t, err)
			p.Stdout, p.Stderr = w, w
			require.NoError(t, p.Start())
			t.Cleanup(func() { _ = p.Process.Kill() })
			require.NoError(t, w.Close())
			lines := bufio.NewScanner(r)
			for range c.lines {
				require.True(t, lines.Scan())
			}
			if c.args == "play" {
				response, err := http.Get(strings.Fields(lines.Text())[0])
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, response.StatusCode)
			}
			require.NoError(t, p.Process.Signal(c.signal))
			for lines.Scan() {
				require.Regexp(t, `^\[ *\d+/\d+\] `, lines.Text(), "progress")
			}
			_ = p.Wait() // the status says it
			require.Equal(t, c.status, p.ProcessState.ExitCode())
		})
	}
}

// Help shows the flags of the main job, and says what they take. What the program refuses, it
// refuses in a line for each fault.
func TestCommandLine(t *testing.T) {
	for args, wants := range map[string][]string{
		"--help":       {"--num=150000", "bloom:10", "user0000000000000042", "With +L6,"},
		"rates --help": {"-n, --n=", "--queries=", "user0000000000000042"},
		"--version":    {report.Version() + "\n"},
	} {
		stdout, stderr, status := bench(t, args)
		require.Zero(t, status)
		require.Empty(t, stderr)
		for _, want := range wants {
			require.Contains(t, strings.Join(strings.Fields(stdout), " ")+"\n", want)
		}
	}
	for args, message := range map[string]string{
		"frobnicate":                              "unexpected argument frobnicate",
		"--disk=-1s":                              "--disk -1s: pass 0s or more",
		"--num=7":                                 "--num 7: pass 8 to 100 million",
		"rates -n 0 --queries 0":                  "-n 0: pass 1 to 100 million\nbench: --queries 0",
		"--json=/no/such/directory/r.json":        "--json: open /no/such",
		"rates --filters=rocksdb":                 `policy: "rocksdb" is not a kind of filter`,
		"rates --filters=pebblev2:0":              "pebblev2:0: pass whole bits per key",
		"--filters=bloom+L7":                      `--filters: policy: "L7" is not an option`,
		"--filters=":                              "pass a filter",
		"rates --filters=":                        "pass a filter",
		"--engines=goleveldb --filters=ribbon+L6": `--filters ["ribbon+L6"]: pass a filter`,
	} {
		stdout, stderr, status := bench(t, args)
		require.Equal(t, exitCannotRun, status, args)
		require.Regexp(t, "^bench: (.*\n)+$", stderr)
		require.Contains(t, stderr, message, args)
		require.Equal(t, strings.Count(message, "\n")+1, strings.Count(stderr, "\n"), stderr)
		require.Empty(t, stdout)
	}
}

func TestExitStatus(t *testing.T) {
	for err, status := range map[error]int{
		errors.Join(errors.New("x"), keys.ErrLost):     exitWrong,
		errors.Join(errors.New("x"), filters.ErrBound): exitWrong,
		errors.Join(errors.New("x"), errors.New("y")):  exitCannotRun,
		errors.Join(errors.New("x"), syscall.EPIPE):    exitInterrupted,
	} {
		require.Equal(t, status, exitStatus(err))
	}
}
