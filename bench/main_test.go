package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/bench/report"
)

// The tests run this test binary as the program: main reads its own arguments, handles signals and exits.
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

func command(dir string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	if len(args) == 0 || args[0] != "filters" && args[0] != "rates" {
		args = append(args, "-dir="+dir)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "LEVELBLOOM_BENCH_MAIN=1", "TMPDIR="+dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	return cmd, &stdout, &stderr
}

func finish(t *testing.T, cmd *exec.Cmd, dir string, stdout, stderr *bytes.Buffer) result {
	_ = cmd.Wait() // the status says it
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), nil}
	for _, e := range entries {
		r.left = append(r.left, e.Name())
	}
	return r
}

func bench(t *testing.T, args ...string) result {
	dir := t.TempDir()
	cmd, stdout, stderr := command(dir, args...)
	require.NoError(t, cmd.Start())
	return finish(t, cmd, dir, stdout, stderr)
}

func TestSmallRun(t *testing.T) {
	out := t.TempDir()
	jsonFile, csvFile := filepath.Join(out, "r.json"), filepath.Join(out, "r.csv")
	r := bench(t, "engines", "-num=5000", "-reads=2000", "-rounds=1", "-threads=2", "-bits=9.5", "-json="+jsonFile, "-csv="+csvFile)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range []string{
		"goleveldb v1", "pebblev1 v1", "pebblev2 v2", "FPR between", "noise,", "key shape decimal, density 0.63",
		"takes whole bits per key: builtin has 10, levelbloom 9.5", "L0 ",
	} {
		require.Contains(t, r.stdout, want)
	}
	require.NotContains(t, r.stdout, "NO FILTER WAS EVER ASKED")
	require.Equal(t, 15, strings.Count(r.stderr, "\n"), "a line of progress for each of 3 engines x 5 contestants:\n%s", r.stderr)

	var decoded struct {
		Settings map[string]string
		Runs     []map[string]any
	}
	content, err := os.ReadFile(jsonFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &decoded))
	require.Len(t, decoded.Runs, 15)
	require.Equal(t, "9.5", decoded.Settings["bits"])
	require.NotEmpty(t, decoded.Settings["dir"])
	content, err = os.ReadFile(csvFile)
	require.NoError(t, err)
	require.Equal(t, 16, strings.Count(string(content), "\n"))
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

func TestEveryShape(t *testing.T) {
	for _, shape := range []string{"bigendian", "random", "uuid"} {
		r := bench(t, "-num=3000", "-reads=1000", "-rounds=1", "-shape="+shape, "-filters=levelbloom", "-engines=pebblev2,goleveldb")
		require.Zero(t, r.status, r.stderr)
		require.Contains(t, r.stdout, "key shape "+shape)
		require.NotContains(t, r.stdout, "NO FILTER WAS EVER ASKED")
		require.Contains(t, r.stdout, "pebblev2 v2")
		require.NotContains(t, r.stdout, "pebblev1")
	}
}

func TestReadBothAndLevels(t *testing.T) {
	r := bench(t, "-num=5000", "-reads=1000", "-rounds=1", "-read=both", "-levels=16,16,12,12,10,10,8", "-baselg=13")
	require.Zero(t, r.status, r.stderr)
	require.NotContains(t, r.stdout, "NO FILTER WAS EVER ASKED")
	require.Equal(t, 3, strings.Count(r.stdout, "get miss, small cache"))
	require.Equal(t, 2, strings.Count(r.stdout, "prefix miss, small cache"))
	require.Equal(t, 1, strings.Count(r.stdout, "textbook's FPP, %"), "goleveldb's: it has one setting")
}

// Binary fuse filters are measured if they are asked for, and the report says where they are none.
func TestEnginesWithFuse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	args := []string{"-num=8000", "-reads=1000", "-rounds=1", "-engines=pebblev2", "-filters=levelbloom,fuse", "-json=" + file}
	r := bench(t, append(args, "-bits=26")...)
	require.Zero(t, r.status, r.stderr)
	require.NotContains(t, r.stdout, "are binary fuse;")
	var decoded struct{ Runs []map[string]any }
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &decoded))
	require.Len(t, decoded.Runs, 3)
	for _, run := range decoded.Runs {
		if run["filter"] == "fuse" {
			require.Greater(t, run["between_fuse_checks"], run["between_checks"].(float64)/2)
		} else {
			require.Zero(t, run["between_fuse_checks"])
		}
	}
	r = bench(t, append(args, "-bits=5")...)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stdout, "WARNING: fuse, round 1: get: 0 % of the filters that were asked are binary fuse;")
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-help"}, {"engines", "-h"}} {
		r := bench(t, args...)
		require.Zero(t, r.status)
		require.Empty(t, r.stderr)
		for _, flag := range []string{"-num", "-value-size", "-bits", "-engines", "-filters", "-shape", "-density", "-seed", "-dir", "-threads", "-quick", "-json", "-csv", "-reads", "-rounds", "-levels", "-baselg", "-read"} {
			require.Contains(t, r.stdout, "  "+flag)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ args, message string }{
		{"frobnicate", `no subcommand "frobnicate": there are engines, filters, rates and levels`},
		{"engines extra", `unexpected argument "extra"`},
		{"-nonsense", "flag provided but not defined: -nonsense"},
		{"-num=x", `invalid value "x" for flag -num`},
		{"-num=0", "0 keys: pass 1 or more"},
		{"-bits=0", "-bits: policy: 0 bits per key"},
		{"-bits=NaN", "-bits: policy: NaN bits per key"},
		{"-density=1", "density 1: pass a number between 0 and 1"},
		{"-shape=octal", `-shape: no key shape "octal"`},
		{"-engines=rocksdb", `-engines: no "rocksdb": choose from goleveldb,pebblev1,pebblev2`},
		{"-filters=none,none", `-filters: "none" is named twice`},
		{"-threads=0", "-threads 0: pass 1 or more"},
		{"-reads=-1", "-reads -1: pass 1 or more"},
		{"-baselg=9", "-baselg: goleveldb: WithFilterBaseLg(9): pass the binary logarithm"},
		{"-baselg=32", "-baselg: goleveldb: WithFilterBaseLg(32): pass the binary logarithm"},
		{"-levels=10,10", "-levels 10,10: 2 levels: pass 7"},
		{"-levels=x,0,0,0,0,0,0", `"x" is no number`},
		{"-levels=10,-1,0,0,0,0,0", "L1: policy: -1 bits per key"},
		{"-read=scan", `-read: no "scan": choose get, prefix or both`},
		{"-read=prefix", "-read prefix: goleveldb has no such way"},
		{"-value-size=-1", "-value-size -1: pass 0 to 1048576"},
		{"-json=/no/such/directory/r.json", "-json: "},
		{"-csv=/no/such/directory/r.csv", "-csv: "},
	} {
		r := bench(t, strings.Fields(c.args)...)
		require.Equal(t, exitCannotRun, r.status, c.args)
		require.Contains(t, r.stderr, c.message, c.args)
		require.Equal(t, 1, strings.Count(r.stderr, "\n"), "one line: %s", r.stderr)
		require.Empty(t, r.stdout)
		require.Empty(t, r.left)
	}
	cmd, stdout, stderr := command(filepath.Join(t.TempDir(), "missing"))
	require.NoError(t, cmd.Start())
	r := finish(t, cmd, t.TempDir(), stdout, stderr)
	require.Equal(t, exitCannotRun, r.status)
	require.Contains(t, r.stderr, "-dir: ")
}

// Outputs that are no regular files are written, not replaced; what cannot be written shows before the run.
func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	target, link, pipe := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Symlink(target, link))
	o, err := newOutput(link)
	require.NoError(t, err)
	o.discard()
	content, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "old", string(content), "discarded")
	o, err = newOutput(link)
	require.NoError(t, err)
	require.NoError(t, o.write(func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }))
	o.discard()
	content, err = os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "the link is still one")

	if runtime.GOOS == "linux" {
		require.NoError(t, exec.Command("mkfifo", pipe).Run())
		received := make(chan string)
		go func() {
			content, err := os.ReadFile(pipe)
			received <- fmt.Sprint(string(content), err)
		}()
		o, err = newOutput(pipe)
		require.NoError(t, err)
		require.NoError(t, o.write(func(w io.Writer) error { _, err := io.WriteString(w, "through"); return err }))
		o.discard()
		require.Equal(t, "through<nil>", <-received)
	}

	_, err = newOutput(dir)
	require.ErrorContains(t, err, "is a directory: pass the name of a file")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.NotContains(t, e.Name(), ".levelbloom-bench-")
	}
	r := bench(t, "-json=/some/file", "-csv=/some/../some/file")
	require.Equal(t, exitCannotRun, r.status)
	require.Contains(t, r.stderr, "-json and -csv both name /some/file")
}

// Every setting is in force: flags that arrive wrongly would show in the settings or in the runs.
func TestFlags(t *testing.T) {
	f, settings, err := parseEngineFlags([]string{"-quick"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []int{10_000, 5_000}, []int{f.num, f.reads})
	require.Contains(t, settings, report.Setting{Name: "num", Value: "10000"})
	f, _, err = parseEngineFlags([]string{"-num=7", "-quick"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, []int{7, 5_000}, []int{f.num, f.reads})

	chosen, err := choose("filters", "none, levelbloom", engine.Filters, func(f engine.Filter) string { return string(f) })
	require.NoError(t, err)
	require.Equal(t, []engine.Filter{engine.None, engine.LevelBloom}, chosen)

	levels, err := parseLevels("16, 16,14,12,10,9.5,0", 10)
	require.NoError(t, err)
	require.Equal(t, engine.Levels{16, 16, 14, 12, 10, 9.5, 0}, levels)
	levels, err = parseLevels("", 11)
	require.NoError(t, err)
	require.Equal(t, engine.Levels{11, 11, 11, 11, 11, 11, 0}, levels)
}

func TestInterruption(t *testing.T) {
	dir := t.TempDir()
	cmd, stdout, stderr := command(dir, "-num=2000000", "-engines=pebblev2")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 1
	}, 20*time.Second, 10*time.Millisecond)
	time.Sleep(200 * time.Millisecond) // into the load
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	r := finish(t, cmd, dir, stdout, stderr)
	require.Equal(t, exitInterrupted, r.status)
	require.True(t, strings.HasSuffix(r.stderr, "bench: interrupted\n"), r.stderr)
	require.Empty(t, r.left)
	require.Empty(t, r.stdout)
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		text   string
	}{
		{nil, 0, ""},
		{flag.ErrHelp, 0, ""},
		{fmt.Errorf("goleveldb: %w", errInterrupted), exitInterrupted, "bench: interrupted\n"},
		{fmt.Errorf("goleveldb: %w: 00", measure.ErrLostKey), exitWrong, "bench: goleveldb: a key is lost: 00\n"},
		{errors.Join(errors.New("one"), errors.New("two")), exitCannotRun, "bench: one two\n"},
	} {
		var b bytes.Buffer
		require.Equal(t, c.status, exitStatus(&b, c.err))
		require.Equal(t, c.text, b.String())
	}
}
