package main

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/engine"
	"github.com/levelbloom/levelbloom/bench/report"
)

func TestLevelsSmallRun(t *testing.T) {
	r := bench(t, "levels", "-num=20000", "-ops=10000", "-rounds=2", "-bits=12", "-plans=blocked/fuse, none", "-split=3", "-read=prefix", "-shape=uuid", "-seed=3")
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range []string{
		"pebblev2 v2.", "-seed=3", "│ blocked/fuse again │", "│ blocked/fuse │ L0    │", "blocked/fuse again:", "saves, in µs of time: ",
		"one for L0 to L2 and, behind the slash, one for L3 to L6.",
	} {
		require.Contains(t, r.stdout, want)
	}
	require.NotContains(t, r.stdout, "WARNING")
	require.Equal(t, 6, strings.Count(r.stderr, "\n"), "a line of progress for each of 2 rounds x 3 contestants:\n%s", r.stderr)
	require.Contains(t, r.stderr, "[1/6] round 1 of 2: blocked/fuse\n")
}

func TestLevelsHelp(t *testing.T) {
	r := bench(t, "levels", "-help")
	require.Zero(t, r.status)
	require.Empty(t, r.stderr)
	for _, flag := range []string{"-plans", "-split", "-bits", "-num", "-ops", "-writes", "-hits", "-value-size", "-read", "-factor", "-shape", "-density", "-rounds", "-seed", "-quick", "-dir"} {
		require.Contains(t, r.stdout, "  "+flag)
	}
}

func TestLevelsBadInput(t *testing.T) {
	for _, c := range []struct{ args, message string }{
		{"extra", `unexpected argument "extra"`},
		{"-plans=cuckoo", `-plans: no encoding "cuckoo": choose from none, builtin, exact, blocked, fuse`},
		{"-plans=exact/", `-plans: no encoding ""`},
		{"-plans=exact,exact", `-plans: "exact" is named twice`},
		{"-plans=", `-plans: no encoding ""`},
		{"-split=0", "-split 0: pass 1 to 6"},
		{"-split=7", "-split 7: pass 1 to 6"},
		{"-bits=0", "policy: 0 bits per key"},
		{"-bits=NaN", "policy: NaN bits per key"},
		{"-num=0", "0 keys: pass 1"},
		{"-ops=0", "0 operations: pass 1"},
		{"-writes=100", "100 % writes: pass 0 to less than 100"},
		{"-hits=NaN", "NaN % hits: pass 0 to less than 100"},
		{"-value-size=-1", "values of -1 bytes: pass 0 to"},
		{"-read=scan", `-read: no "scan": choose get or prefix`},
		{"-factor=1", "factor 1: pass 2 to 100"},
		{"-shape=octal", `-shape: no key shape "octal"`},
		{"-density=1", "density 1: pass a number between 0 and 1"},
		{"-rounds=0", "0 rounds: pass 1 or more"},
	} {
		r := bench(t, append([]string{"levels"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitCannotRun, r.status, c.args)
		require.Contains(t, r.stderr, c.message, c.args)
		require.Equal(t, 1, strings.Count(r.stderr, "\n"), "one line: %s", r.stderr)
		require.Empty(t, r.stdout)
		require.Empty(t, r.left)
	}
}

// Every setting is in force.
func TestLevelFlags(t *testing.T) {
	f, settings, err := parseLevelFlags([]string{"-quick", "-ops=7"}, io.Discard)
	require.NoError(t, err)
	require.Contains(t, settings, report.Setting{Name: "num", Value: "60000"})
	c, err := f.config()
	require.NoError(t, err)
	require.Equal(t, []int{60_000, 7, 1}, []int{c.Keys, c.Operations, c.Rounds})
	require.Equal(t, "fuse", c.Plans[2].Levels[4].Name)

	f, _, err = parseLevelFlags([]string{
		"-plans=exact,none/fuse", "-split=2", "-bits=9.5", "-num=8", "-ops=9", "-writes=20", "-hits=25", "-value-size=5", "-read=prefix",
		"-factor=10", "-shape=random", "-density=0.5", "-rounds=6", "-seed=11",
	}, io.Discard)
	require.NoError(t, err)
	c, err = f.config()
	require.NoError(t, err)
	require.Equal(t, []string{"exact", "none", "none", "fuse"}, []string{c.Plans[0].Levels[6].Name, c.Plans[1].Levels[0].Name, c.Plans[1].Levels[1].Name, c.Plans[1].Levels[2].Name})
	require.Equal(t, []float64{9.5, 0.2, 0.25, 0.5}, []float64{c.Bits, c.Writes, c.Hits, c.Density})
	require.Equal(t, []int{8, 9, 5, 10, 6, 11}, []int{c.Keys, c.Operations, c.ValueSize, c.Factor, c.Rounds, int(c.Seed)})
	require.Equal(t, engine.Prefix, c.Read)
	require.Equal(t, "random", c.Shape.Name)
}

func TestLevelsInterruption(t *testing.T) {
	dir := t.TempDir()
	cmd, stdout, stderr := command(dir, "levels")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 1
	}, 20*time.Second, 10*time.Millisecond)
	time.Sleep(time.Second) // into the load
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	r := finish(t, cmd, dir, stdout, stderr)
	require.Equal(t, exitInterrupted, r.status)
	require.True(t, strings.HasSuffix(r.stderr, "bench: interrupted\n"), r.stderr)
	require.Empty(t, r.left)
	require.Empty(t, r.stdout)
}
