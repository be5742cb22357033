package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/kind"
)

func TestFiltersSmallRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "turns.txt")
	var names []string
	for _, i := range implementations {
		if i.name != "cpp" {
			names = append(names, i.name)
		}
	}
	r := bench(t, "filters", "-rounds=1", "-n=1k", "-len=8", "-keys=half", "-work=batch,build", "-contestants="+strings.Join(names, ","), "-benchstat="+file)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range append(names, "goleveldb v1", "pebblev1 v1", "pebblev2 v2", "levelbloom again", "│ batch", "│ build") {
		require.Contains(t, r.stdout, want)
	}
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 2*(len(names)+1), strings.Count(string(content), " ns/op\n"))

	// Without C++ LevelDB it runs, unless that was asked for.
	r = bench(t, "filters", "-rounds=1", "-n=1", "-work=build") // the test runs in another directory than the program does
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stderr, "without C++ LevelDB: there is no testdata/leveldb/build/speed, which `make -C testdata/leveldb build/speed` makes")
	for _, args := range [][]string{{"-cpp=/no/such/program"}, {"-contestants=goleveldb,cpp"}} {
		r = bench(t, append([]string{"filters", "-rounds=1", "-n=1", "-work=build"}, args...)...)
		require.Equal(t, exitCannotRun, r.status)
		require.Contains(t, r.stderr, "no such file")
	}
}

// The contestants of binary fuse write the fingerprints that their names say, from 2000 keys on.
func TestFuseContestants(t *testing.T) {
	found := 0
	for _, i := range implementations {
		width, ok := strings.CutPrefix(i.name, "fuse")
		if !ok {
			continue
		}
		found++
		c, err := i.open(filterFlags{}, nil)
		require.NoError(t, err)
		for _, n := range []int{2000, 10_000, 100_000} {
			keys := make([][]byte, n)
			for j := range keys {
				keys[j] = fmt.Appendf(nil, "key %d", j)
			}
			require.NoError(t, c.SetKeys(keys))
			filters, err := c.BuildFilters(n)
			require.NoError(t, err)
			require.Equal(t, "fuse "+width, kind.Of(filters[0]).String(), "%d keys", n)
		}
	}
	require.Equal(t, 3, found)
}

func TestFiltersHelp(t *testing.T) {
	r := bench(t, "filters", "-help")
	require.Zero(t, r.status)
	for _, flag := range []string{"-bits", "-contestants", "-work", "-n", "-len", "-keys", "-rounds", "-seed", "-quick", "-cpp", "-benchstat"} {
		require.Contains(t, r.stdout, "  "+flag)
	}
}

func TestFiltersBadInput(t *testing.T) {
	for _, c := range []struct{ args, message string }{
		{"extra", `unexpected argument "extra"`},
		{"-bits=0", "-bits 0: pass 1 to 100"},
		{"-bits=101", "-bits 101: pass 1 to 100"},
		{"-rounds=0", "-rounds 0: pass 1 or more"},
		{"-work=play", `-work: no "play": choose from lookup,many,batch,build`},
		{"-keys=most", `-keys: no "most": choose from hit,miss,half`},
		{"-n=32,0", `-n: "0": pass a number of keys from 1 to 20M`},
		{"-len=16,7", `-len: "7": pass 8 to 1024 bytes`},
		{"-contestants=rocksdb", `-contestants: no "rocksdb": choose from levelbloom,`},
		{"-benchstat=/no/such/directory/b.txt", "-benchstat: "},
	} {
		r := bench(t, append([]string{"filters"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitCannotRun, r.status, c.args)
		require.Contains(t, r.stderr, c.message, c.args)
		require.Empty(t, r.stdout)
	}
}

func TestFilterFlags(t *testing.T) {
	f, _, err := parseFilterFlags([]string{"-quick", "-len=8, mixed"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 2, f.rounds)
	cells, err := f.cells()
	require.NoError(t, err)
	require.Contains(t, cells, filterbench.Cell{Work: filterbench.Many, N: 10_000, Length: filterbench.Mixed, Mix: filterbench.Half})
	require.Contains(t, cells, filterbench.Cell{Work: filterbench.Build, N: 32, Length: 8})
	require.Len(t, cells, 3*2*2*3+2*2)

	f, _, err = parseFilterFlags([]string{"-work=build,many"}, io.Discard)
	require.NoError(t, err)
	cells, err = f.cells()
	require.NoError(t, err)
	require.Len(t, cells, 4+3, "each kind of work has its own cells")
}

func TestFiltersInterruption(t *testing.T) {
	dir := t.TempDir()
	cmd, stdout, stderr := command(dir, "filters", "-rounds=10000000", "-n=32", "-len=8")
	require.NoError(t, cmd.Start())
	time.Sleep(time.Second) // into the first cell, which would take very long
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	r := finish(t, cmd, dir, stdout, stderr)
	require.Equal(t, exitInterrupted, r.status)
	require.True(t, strings.HasSuffix(r.stderr, "bench: interrupted\n"), r.stderr)
	require.Empty(t, r.left)
	require.Empty(t, r.stdout)
}

func TestWrongIsExitStatus1(t *testing.T) {
	require.Equal(t, exitWrong, exitStatus(io.Discard, fmt.Errorf("lookup: %w", filterbench.ErrWrong)))
}
