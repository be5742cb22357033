package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCurve(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "curve.svg")
	flags, read := files(t)
	args := append([]string{"curve", "-quick", "-runs=2", "-n=200", "-at-fill=1.5,0.5,1",
		"-at-n=300,20", "-at-bits=12,9.5", "-queries=5000", "-svg=" + svg}, flags...)
	r := bench(t, args...)
	require.Zero(t, r.status, r.stderr)
	for _, want := range []string{"against fill, sized for 200 keys at 10 bits per key", "9.5",
		"against bits per key", "against keys per filter",
		"Not measured against fill: tuned, ribbon"} {
		require.Contains(t, strings.Join(strings.Fields(r.stdout), " "), want)
	}
	d, lines := read()
	require.Len(t, d.Records, 3*1+2*3+2*3)
	require.Equal(t, 1.5*200, d.Records[2]["n"], "in order")
	require.NotEmpty(t, d.Fields["runs.fpr"])
	content, err := os.ReadFile(svg)
	require.NoError(t, err)
	require.Contains(t, string(content), "capacity")
	alone := bench(t, append(args, "-filters=exact")...)
	require.Zero(t, alone.status, alone.stderr)
	_, again := read()
	require.Len(t, again, 1+3+2+2)
	require.Subset(t, lines, again, "same flags, same figures")
}

// Own keys are divided among the filters: 3000 are enough for some 2000 present ones.
func TestCurveOwnKeys(t *testing.T) {
	flags, read := files(t)
	r := bench(t, append([]string{"curve", "-keys=" + listFile(t, 3000), "-runs=1",
		"-queries=1000", "-filters=exact", "-at-bits=10"}, flags...)...)
	require.Zero(t, r.status, r.stderr)
	d, _ := read()
	fullest, largest := 0.0, 0.0
	for _, record := range d.Records {
		require.Equal(t, "own", record["shape"])
		largest = max(largest, record["n"].(float64))
		if record["view"] == "fill" {
			fullest = max(fullest, record["n"].(float64))
		}
	}
	require.InDelta(t, 1850, fullest, 50)
	require.Equal(t, fullest, largest, "against n: 10, 30 ... 1000")
}

func TestCurveRefused(t *testing.T) {
	path := listFile(t, 3000)
	for _, c := range []struct{ args, message string }{
		{"-against=time", `-against: no "time": choose from fill,bits,n`},
		{"-runs=0", "-runs 0, -queries 200000: pass 1 to 1000"},
		{"-target=1", "-target 1: pass a rate above 0 and below 1"},
		{"-target=NaN", "-target NaN: pass a rate above 0 and below 1"},
		{"-at-fill=0", `-at-fill: "0": pass a number above 0, at most 100`},
		{"-at-bits=ten", `-at-bits: "ten": pass a number above 0, at most 1000`},
		{"-bits=-1", "exact: policy: -1 bits per key"},
		{"-n=0", `-n: "0": pass a number of keys`},
		{"-at-n=1k,0", `-at-n: "0": pass a number of keys`},
		{"-shape=octal", `-shape: no "octal": choose from random,`},
		{"-density=1", `-density: no "1": choose from alternating,`},
		{"-svg=/no/such/directory/c.svg", "-svg: "},
		{"-n=1500 -keys=" + path, "-keys: too few keys (3000) to store 2250 of them: pass "},
		{"-at-n=2k -keys=" + path, "-keys: too few keys (3000) to store 2k of them: pass "},
		{"-shape=url -keys=" + path, "leave out -shape and -density"},
	} {
		requireRefused(t, "curve "+c.args, c.message)
	}
}
