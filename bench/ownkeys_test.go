package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
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

// About a database that exists bench has no verdict of its own: the page shows that of filterdump.
func TestOwnDatabase(t *testing.T) {
	dir := t.TempDir()
	db, err := leveldb.OpenFile(dir, &opt.Options{WriteBuffer: 64 << 10})
	require.NoError(t, err)
	for i := range 20_000 {
		require.NoError(t, db.Put(fmt.Appendf(nil, "%016d", i*i%60_000), make([]byte, 20), nil))
	}
	require.NoError(t, db.CompactRange(util.Range{}))
	require.NoError(t, db.Close())
	page := filepath.Join(t.TempDir(), "page.html")
	r := bench(t, "--keys="+dir, "--num=1000", "--reads=100", "--rounds=1", "--disk=0s", "--filters=builtin,ribbon",
		"--engines=goleveldb,pebblev2", "--page="+page)
	require.Zero(t, r.status, r.stderr)
	require.Contains(t, r.stdout, "1k are stored")
	require.NotContains(t, r.stdout, "NO FILTER WAS EVER CONSULTED")
	require.True(t, strings.HasPrefix(r.stdout, "Simulated: "), r.stdout)
	counted, err := ondisk.Count(context.Background(), dir)
	require.NoError(t, err)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(html), "<p class=\"do\">"+counted.Sentence+"</p>")
	require.NotContains(t, r.stdout, counted.Sentence)
}

func TestOwnKeysRefused(t *testing.T) {
	path := listFile(t, 100)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, c := range []struct{ args, message string }{
		{"--keys=/no/such/file", "--keys: stat /no/such/file: no such file"},
		{"--keys=" + listFile(t, 2), "keys.txt: pass 3 or more"},
		{"--dir=/no/such --keys=" + path, "--dir: "}, // as many keys are stored as fit
		{"--json=" + path + " --keys=" + path, path + " would be replaced"},
		{"--page=" + path + " --keys=" + path, path + " would be replaced"},
		{"--keys=" + filepath.Dir(path), "no tables (.ldb, .sst)"},
		{"--keys=" + pipe, pipe + " is no regular file: write the keys into one"},
		{"--keys=" + os.Args[0], "no text: pass the database"},
	} {
		requireRefused(t, c.args, c.message)
	}
}
