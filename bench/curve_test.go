package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCurve(t *testing.T) {
	t.Parallel()
	svg := filepath.Join(t.TempDir(), "curve.svg")
	flags, read := files(t)
	r := bench(t, append([]string{"curve", "-quick", "-against=fill", "-n=200", "-queries=5000",
		"-svg=" + svg}, flags...)...)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stdout, "against fill, 10 bits per key")
	d, _ := read()
	require.Len(t, d.Records, 15)
	require.Equal(t, 1.5*200, d.Records[14]["n"])
	content, err := os.ReadFile(svg)
	require.NoError(t, err)
	require.Contains(t, string(content), "capacity")
}

// Own keys are divided among the filters: 3000 are enough for some 2000 present ones.
func TestCurveOwnKeys(t *testing.T) {
	path := listFile(t, 3000)
	flags, read := files(t)
	r := bench(t, append([]string{"curve", "-keys=" + path, "-queries=1000"}, flags...)...)
	require.Zero(t, r.status, r.stderr)
	d, _ := read()
	require.Equal(t, "own", d.Records[0]["shape"])
	require.InDelta(t, 1850, d.Records[14]["n"].(float64), 50)
	for _, c := range []struct{ args, message string }{
		{"-against=time", `-against: no "time": choose from fill,bits,n`},
		{"-n=1500 -keys=" + path, "-keys: too few keys (3000) to store 2250 of them: pass "},
		{"-against=n -at-n=2k -keys=" + path, "-keys: too few keys (3000) to store 2k of them: pass "},
		{"-shape=url -keys=" + path, "leave out -shape and -density"},
	} {
		requireRefused(t, "curve "+c.args, c.message)
	}
}
