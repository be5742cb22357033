package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/ratebench"
	"github.com/levelbloom/levelbloom/bench/report"
)

func TestRatesSmallRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cells.csv")
	args := []string{"rates", "-n=20,1k", "-queries=20000", "-bits=10,9.5", "-shapes=random,decimal", "-densities=alternating,beyond", "-seed=3", "-csv=" + file}
	r := bench(t, args...)
	require.Zero(t, r.status, r.stderr)
	require.Empty(t, r.left)
	for _, want := range []string{"│ 10 bits, keys │", "│ 9.5 bits, keys │", "-seed=3", "│            1k │", "all 9 rates are within the bounds", "no bound is known for 3 cells"} {
		require.Contains(t, r.stdout, want)
	}
	require.Equal(t, 4, strings.Count(r.stderr, "\n"), "a line of progress for each number of keys and shape:\n%s", r.stderr)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1+3*2*3*2, strings.Count(string(content), "\n"), "encodings, bits, shapes with densities, numbers of keys")

	again := bench(t, args...)
	require.Equal(t, r.stdout, again.stdout, "same flags, same figures")
	contentAgain, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(content), string(contentAgain))

	other := bench(t, append(args, "-seed=4")...)
	require.Zero(t, other.status, other.stderr)
	require.NotEqual(t, strings.ReplaceAll(r.stdout, "-seed=3", "-seed=4"), other.stdout)
}

func TestRatesQuick(t *testing.T) {
	r := bench(t, "rates", "-quick", "-queries=1000")
	require.Zero(t, r.status, r.stderr)
	for _, want := range []string{"10 bits", "11.5 bits", "16 bits", "20 bits", "24 bits", "│            20 │", " as blocked │", " as fuse 8 │", " as fuse 16 │", "cells are left out", "within the bounds"} {
		require.Contains(t, r.stdout, want)
	}
}

func TestRatesHelp(t *testing.T) {
	r := bench(t, "rates", "-help")
	require.Zero(t, r.status)
	require.Empty(t, r.stderr)
	for _, flag := range []string{"-encodings", "-shapes", "-densities", "-n", "-bits", "-error", "-queries", "-seed", "-quick", "-full", "-crossing", "-csv"} {
		require.Contains(t, r.stdout, "  "+flag)
	}
}

func TestRatesBadInput(t *testing.T) {
	for _, c := range []struct{ args, message string }{
		{"extra", `unexpected argument "extra"`},
		{"-encodings=cuckoo", `-encodings: no "cuckoo": choose from exact,blocked,fuse`},
		{"-shapes=random,random", `-shapes: "random" is named twice`},
		{"-densities=half", `-densities: no "half": choose from alternating,`},
		{"-n=0", `-n: "0": pass a number of keys`},
		{"-n=", `-n: pass at least one`},
		{"-bits=", `-bits: pass at least one`},
		{"-bits=ten", `-bits: "ten" is no number`},
		{"-bits=10,0", "-bits: exact: policy: 0 bits per key"},
		{"-bits=NaN", "-bits: exact: policy: NaN bits per key"},
		{"-error=0", "-error 0: pass a number above 0"},
		{"-error=NaN", "-error NaN: pass a number above 0"},
		{"-queries=0", "-queries 0: pass 1 to 1000000000"},
		{"-queries=1000000001", "-queries 1000000001: pass 1 to 1000000000"},
		{"-quick -full", "-quick and -full: pass one of them"},
		{"-n=8,8", "-n: 8 is named twice"},
		{"-bits=10,10.0", "-bits: 10 is named twice"},
		{"-shapes=length -n=10k", "no cell is left: no shape has so many keys"},
		{"-csv=/no/such/directory/r.csv", "-csv: "},
		{"-crossing -shapes=random", "-crossing and -shapes: pass one of them"},
		{"-crossing -full", "-crossing and -full: pass one of them"},
		{"-crossing -csv=x", "-crossing and -csv: pass one of them"},
		{"-crossing -n=300", "300 keys: the builder writes no binary fuse filter: pass more"},
	} {
		r := bench(t, append([]string{"rates"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitCannotRun, r.status, c.args)
		require.Contains(t, r.stderr, c.message, c.args)
		require.Equal(t, 1, strings.Count(r.stderr, "\n"), "one line: %s", r.stderr)
		require.Empty(t, r.stdout)
	}
}

func TestRateFlags(t *testing.T) {
	f, settings, err := parseRateFlags([]string{"-quick"}, io.Discard)
	require.NoError(t, err)
	c, err := f.config()
	require.NoError(t, err)
	require.Equal(t, []int{20, 1000}, c.Ns)
	require.Equal(t, 20_000, c.Queries)
	require.Contains(t, settings, report.Setting{Name: "queries", Value: "20000"})

	f, _, err = parseRateFlags([]string{"-full", "-queries=7", "-bits=12,9.5", "-error=1.5", "-seed=9", "-encodings=blocked", "-shapes=url", "-densities=1%"}, io.Discard)
	require.NoError(t, err)
	c, err = f.config()
	require.NoError(t, err)
	require.Equal(t, []int{8, 20, 30, 51, 52, 100, 200, 500, 1000, 1025, 3000, 10_000, 100_000, 1_000_000, 10_000_000}, c.Ns)
	require.Equal(t, 7, c.Queries)
	require.Equal(t, []float64{12, 9.5}, c.Bits)
	require.InDelta(t, 0.015, c.Error, 1e-12)
	require.Equal(t, int64(9), c.Seed)
	require.Equal(t, []string{"blocked", "url", "1%"}, []string{c.Encodings[0].Name, c.Shapes[0].Name, c.Densities[0].Name})

	f, _, err = parseRateFlags([]string{"-full", "-n=8"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "8", f.ns)
	require.Equal(t, 10_000_000, f.queries)

	f, settings, err = parseRateFlags([]string{"-crossing", "-n=2k"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "2k", f.ns)
	require.Equal(t, 60_000_000, f.queries)
	c, err = f.config()
	require.NoError(t, err)
	require.True(t, slices.IsSorted(c.Bits), "as the report takes for granted")
	for _, s := range settings {
		require.NotContains(t, []string{"encodings", "shapes", "densities", "full", "csv"}, s.Name)
	}
}

func TestCrossingQuick(t *testing.T) {
	r := bench(t, "rates", "-crossing", "-quick", "-seed=3")
	require.Zero(t, r.status, r.stderr)
	for _, want := range []string{"│ 1k keys, bits │", "-seed=3", "Of 3 choices"} {
		require.Contains(t, r.stdout, want)
	}
	require.Regexp(t, `│ fuse 8 +│ 1[12]\.\d\d │`, r.stdout)
	require.NotContains(t, r.stdout, "encodings=")
	require.Equal(t, r.stdout, bench(t, "rates", "-crossing", "-quick", "-seed=3").stdout, "same flags, same figures")
}

func TestRatesInterruption(t *testing.T) {
	dir := t.TempDir()
	cmd, stdout, stderr := command(dir, "rates", "-n=20M", "-shapes=random")
	require.NoError(t, cmd.Start())
	time.Sleep(time.Second) // into the first filter, which would take very long
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	r := finish(t, cmd, dir, stdout, stderr)
	require.Equal(t, exitInterrupted, r.status)
	require.True(t, strings.HasSuffix(r.stderr, "bench: interrupted\n"), r.stderr)
	require.Empty(t, r.left)
	require.Empty(t, r.stdout)
}

// Rates that break a bound are printed all the same, and so is their file.
func TestBrokenBoundIsExitStatus1(t *testing.T) {
	require.Equal(t, exitWrong, exitStatus(io.Discard, fmt.Errorf("rates: %w", ratebench.ErrBound)))

	file := filepath.Join(t.TempDir(), "cells.csv")
	blocked := &ratebench.Encodings[1]
	before := blocked.Bounds
	defer func() { blocked.Bounds = before }()
	blocked.Bounds = map[float64]float64{10: 0.001}
	var stdout strings.Builder
	err := rates(context.Background(), []string{"-n=1k", "-bits=10", "-shapes=random", "-queries=20000", "-csv=" + file}, &stdout)
	require.ErrorIs(t, err, ratebench.ErrBound)
	require.Contains(t, stdout.String(), "BOUNDS ARE BROKEN by 1 of 1 rate:\n  random, 1k keys, 10 bits per key: ")
	require.FileExists(t, file)
}
