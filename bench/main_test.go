package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/measure"
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
	left           []string // in the directory for databases
}

func command(dir string, args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], append(args, "-dir="+dir)...)
	cmd.Env = append(os.Environ(), "LEVELBLOOM_BENCH_MAIN=1")
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
	require.Equal(t, 12, strings.Count(r.stderr, "\n"), "a line of progress for each of 3 engines x 4 contestants:\n%s", r.stderr)

	var decoded struct {
		Settings map[string]string
		Runs     []map[string]any
	}
	content, err := os.ReadFile(jsonFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &decoded))
	require.Len(t, decoded.Runs, 12)
	require.Equal(t, "9.5", decoded.Settings["bits"])
	content, err = os.ReadFile(csvFile)
	require.NoError(t, err)
	require.Equal(t, 13, strings.Count(string(content), "\n"))
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

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-help"}, {"engines", "-h"}} {
		r := bench(t, args...)
		require.Zero(t, r.status)
		require.Empty(t, r.stderr)
		for _, flag := range []string{"-num", "-value-size", "-bits", "-engines", "-filters", "-shape", "-density", "-seed", "-dir", "-threads", "-quick", "-json", "-csv", "-reads", "-rounds"} {
			require.Contains(t, r.stdout, "  "+flag)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ args, message string }{
		{"frobnicate", `no subcommand "frobnicate"`},
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
		{fmt.Errorf("goleveldb: %w: 00", measure.ErrLostKey), exitLostKey, "bench: goleveldb: a key is lost: 00\n"},
		{errors.Join(errors.New("one"), errors.New("two")), exitCannotRun, "bench: one two\n"},
	} {
		var b bytes.Buffer
		require.Equal(t, c.status, exitStatus(&b, c.err))
		require.Equal(t, c.text, b.String())
	}
}
