package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
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
		return
	}
	os.Exit(m.Run())
}

type result struct {
	stdout, stderr string
	status         int
	left           []string // in the directory for databases and other temporary files
}

// A process is the program at work. The test reads its stderr.
type process struct {
	*exec.Cmd
	dir    string
	stdout bytes.Buffer
	stderr *bufio.Reader
}

// start starts the program; dir is the directory for its temporary files. It does not outlive the
// test.
func start(t *testing.T, dir string, args ...string) *process {
	p := &process{Cmd: exec.Command(os.Args[0], args...), dir: dir}
	p.Env = append(os.Environ(), "LEVELBLOOM_BENCH_MAIN=1", "TMPDIR="+dir)
	p.Stdout = &p.stdout
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	p.stderr = bufio.NewReader(stderr)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

func (p *process) finish(t *testing.T) (r result) {
	stderr, err := io.ReadAll(p.stderr)
	require.NoError(t, err)
	_ = p.Wait() // the status says it
	r = result{stdout: p.stdout.String(), stderr: string(stderr), status: p.ProcessState.ExitCode()}
	r.left, err = filepath.Glob(filepath.Join(p.dir, "*"))
	require.NoError(t, err)
	for _, line := range strings.Split(r.stdout, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	return r
}

func bench(t *testing.T, args ...string) result { return start(t, t.TempDir(), args...).finish(t) }

// file returns the flag that writes a JSON file, and a function that reads it.
func file(t *testing.T) (flag string, read func(records any) report.Report) {
	path := filepath.Join(t.TempDir(), "r.json")
	return "--json=" + path, func(records any) report.Report {
		r := report.Report{Records: records}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &r))
		return r
	}
}

// The first lines are the conclusion, then come a chart and a table.
func TestEngines(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, args := range []string{
		"--engines=goleveldb,pebblev1,pebblev2",
		"--engines=goleveldb,pebblev2 --filters=none,bloom:9 --shape=decimal",
		"--engines=pebblev2 --filters=none,builtin,ribbon,ribbon+L6",
		"--cached --engines=pebblev1,pebblev2 --filters=none,bloom",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			flag, read := file(t)
			r := bench(t, append(strings.Fields(args), "--num=8000", flag)...)
			require.Zero(t, r.status, r.stderr)
			require.Empty(t, r.left)
			cached := strings.Contains(args, "cached")
			require.Equal(t, !cached, strings.HasPrefix(r.stdout, "Of the reads for absent "))
			require.Equal(t, !cached, strings.Contains(r.stdout, "█ "), "something is read")
			require.Equal(t, 1, strings.Count(r.stdout, "\n───"), r.stdout)
			var records []engines.Record
			written := read(&records)
			require.Equal(t, "go run ./bench "+args+" --num=8000", written.Command)
			require.Empty(t, written.Incomplete)
			require.Equal(t, len(records)+4, strings.Count(r.stderr, "\n"), "lines of progress")
			if !cached {
				requireFewerReads(t, records)
			}
		})
	}
}

// requireFewerReads requires that filters have the size of their bits per key, and a little for
// what is around them, and avoid reads: those of L6 nearly all.
func requireFewerReads(t *testing.T, counted []engines.Record) {
	reads, size := map[string]int64{}, int64(0)
	for _, n := range counted {
		reads[n.Filter] = n.Absent.Blocks
		if n.Filter == "none" {
			size = n.Bytes
			continue
		}
		require.Less(t, n.Absent.Blocks, reads["none"]/2, "%v", n)
		bits := cmp.Or(map[string]float64{"bloom:9": 9, "ribbon:7": 7}[n.Filter], 10)
		perKey := 8 * float64(n.Bytes-size) / float64(n.Keys)
		if n.Engine == "goleveldb" || n.Filter == "ribbon+L6" {
			require.InDelta(t, 1.25*bits, perKey, 0.25*bits+0.05, "%v", n)
		} else { // most keys are in L6
			require.InDelta(t, 0.4*bits, perKey, 0.3*bits, "%v", n)
		}
		switch n.Filter {
		case "ribbon":
			require.Less(t, n.Absent.Blocks, reads["builtin"], "%v", n)
		case "ribbon+L6":
			require.Less(t, n.Absent.Blocks, reads["ribbon"]/2, "%v", n)
		}
	}
}

// An interrupted benchmark prints and writes what it has measured, and says that it is incomplete.
// The signals are Ctrl-C, and those of a terminal and of a pipe that somebody closes.
func TestInterruption(t *testing.T) {
	t.Setenv("GOMAXPROCS", "1") // so that it measures one thing after the other
	// Each takes seconds after its first three lines of progress.
	for _, c := range []struct {
		args   string
		signal os.Signal
	}{
		{"--num=50000", os.Interrupt},
		{"--num=50000 --engines=pebblev2", syscall.SIGPIPE},
		{"rates --queries=20000", syscall.SIGHUP},
	} {
		args := strings.Fields(c.args)
		t.Run(c.args, func(t *testing.T) {
			flag, read := file(t)
			p := start(t, t.TempDir(), append(args, flag)...)
			for range 3 { // lines of progress
				_, err := p.stderr.ReadString('\n')
				require.NoError(t, err)
			}
			require.NoError(t, p.Process.Signal(c.signal))
			r := p.finish(t)
			require.Equal(t, exitInterrupted, r.status, r.stderr)
			require.True(t, strings.HasSuffix(r.stderr, "bench: interrupted\n"), r.stderr)
			require.Empty(t, r.left)
			require.Contains(t, r.stdout, "INCOMPLETE, because it ended early: interrupted")
			require.Equal(t, "interrupted", read(new(any)).Incomplete)
		})
	}
}

// Help shows the flags of the main job, and says what they take. The version is the program's.
func TestHelp(t *testing.T) {
	for args, all := range map[string]string{
		"--help":       "--num=150000,bloom:10,user0000000000000042,--cached,bench play",
		"rates --help": "-n, --n=,--queries=,user0000000000000042",
		"play -h":      "--port=",
		"--version":    report.Version(),
	} {
		r := bench(t, strings.Fields(args)...)
		require.Zero(t, r.status)
		require.Empty(t, r.stderr)
		for _, want := range strings.Split(all, ",") {
			require.Contains(t, r.stdout, want)
		}
		require.Equal(t, args == "--version", len(strings.Fields(r.stdout)) == 1)
	}
}

// What the program refuses, it refuses in one line.
func TestBadInput(t *testing.T) {
	for args, message := range map[string]string{
		"frobnicate":                       "unexpected argument frobnicate",
		"rates -bits 10":                   "unknown flag -b",
		"--num=x":                          "--num: expected",
		"--disk=-1s":                       "--disk -1s: pass 0s or more",
		"--num=7":                          "--num 7: pass 8 to 100 million",
		"rates -n 36,0":                    "-n 0: pass 1 to 100 million",
		"--json=/no/such/directory/r.json": "--json: open /no/such",
		"rates --filters=rocksdb":          `policy: "rocksdb" is not a kind of filter`,
		"rates --filters=":                 "--filters: pass a filter",
		"--filters=":                       "pass a filter",
		"--engines=goleveldb --filters=ribbon+L6": `--filters ["ribbon+L6"]: pass a filter`,
	} {
		r := bench(t, strings.Fields(args)...)
		require.Equal(t, exitCannotRun, r.status, args)
		require.Contains(t, r.stderr, message, args)
		require.Equal(t, 1, strings.Count(r.stderr, "\n"), "one line: %s", r.stderr)
		require.Empty(t, r.stdout+strings.Join(r.left, " "))
	}
}

func TestExitStatus(t *testing.T) {
	for err, status := range map[error]int{
		errors.Join(errors.New("x"), keys.ErrLost):     exitWrong,
		errors.Join(errors.New("x"), filters.ErrBound): exitWrong,
		errors.Join(errors.New("x"), errors.New("y")):  exitCannotRun,
		errInterrupted: exitInterrupted,
	} {
		var b bytes.Buffer
		require.Equal(t, status, exitStatus(&b, err))
		want := "bench: " + strings.ReplaceAll(err.Error(), "\n", "\nbench: ") + "\n"
		require.Equal(t, want, b.String())
	}
}

func TestPlay(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stdout, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"play"}, w) }()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	response, err := http.Get(strings.Fields(line)[0])
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	cancel(errInterrupted)
	require.NoError(t, <-done)
}
