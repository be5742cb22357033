package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listFile writes a list of n keys.
func listFile(t *testing.T, n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "user%08d\r\n", i*i)
	}
	path := filepath.Join(t.TempDir(), "keys.txt")
	require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o600))
	return path
}

// Own keys stand alone, unless other shapes are asked for, and numbers of keys that do not fit are
// left out, unless they are asked for.
func TestOwnKeysRates(t *testing.T) {
	path := listFile(t, 3000)
	for _, c := range []struct {
		flags         string
		cells, shapes int
	}{
		{"", 5, 1}, // up to 500 keys per filter
		{"-n 36,1k", 2, 1},
		{"-n 36 --shape=random,decimal --density=10%", 3, 3},
	} {
		flag, read := file(t)
		args := []string{"rates", "--keys=" + path, "--bits=10", "--queries=2000",
			"--filters=bloom", flag}
		r := bench(t, append(args, strings.Fields(c.flags)...)...)
		require.Zero(t, r.status, r.stderr)
		require.Contains(t, strings.Join(strings.Fields(r.stdout), " "),
			"own: 3000 keys of "+path+". A random third")
		d := read()
		shapes := map[any]bool{}
		for _, record := range d.Records {
			shapes[record["shape"]] = true
		}
		require.Len(t, d.Records, c.cells)
		require.Len(t, shapes, c.shapes)
		require.True(t, shapes["own"])
	}
}

// The databases have as many keys as fit, and every lookup finds what it should.
func TestOwnKeysEngines(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"", "--num=1000 --reads=300"} {
		flag, read := file(t)
		args := []string{"--keys=" + listFile(t, 3000), "--rounds=1", "--disk=0s",
			"--filters=bloom", "--engines=goleveldb,pebblev2", flag}
		r := bench(t, append(args, strings.Fields(size)...)...)
		require.Zero(t, r.status, r.stderr)
		require.NotContains(t, r.stdout, "NO FILTER WAS EVER ASKED")
		d := read()
		for _, record := range d.Records {
			require.Greater(t, record["between_lookups"], 299.0)
		}
	}
}

func TestOwnKeysRefused(t *testing.T) {
	path := listFile(t, 100)
	for _, c := range []struct{ args, message string }{
		{"rates --keys=/no/such/file", "--keys: stat /no/such/file: no such file"},
		{"rates -n 8,1k --keys=" + path, "--keys: too few keys (100) to store 1k of them: pass "},
		{"rates --keys=" + listFile(t, 9), "--keys: too few keys (9) to store 8 of them: pass "},
		{"rates --keys=" + filepath.Dir(path), "no tables (.ldb, .sst)"},
		{"--num=60 --keys=" + path, "--keys: too few keys (100) to store 60 of them: pass "},
		{"--reads=200 --keys=" + path, "or a smaller --num or --reads"},
		{"rates --svg=" + path + " --keys=" + path, path + " would be replaced"},
		{"--json=" + path + " --keys=" + path, path + " would be replaced"},
		{"--page=" + path + " --keys=" + path, path + " would be replaced"},
		{"--shape=random --keys=" + path, "leave out --shape and --density"},
	} {
		requireRefused(t, c.args, c.message)
	}
}
