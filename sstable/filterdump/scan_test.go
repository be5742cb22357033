package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/census"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// What the database has deleted meanwhile is no fault.
func TestVanishedTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.ldb")
	r := newReport([]*census.Database{{Tables: []*scan.Result{lookAt(t, path)}}})
	require.Equal(t, "1 table deleted by the database meanwhile", r.Verdict)
	require.Equal(t, exitSound, r.exitStatus())
}

// A file without a table's end is never sound: it is unfinished if it has changed just now, or in
// the future, and corrupt otherwise.
func TestBrokenCopies(t *testing.T) {
	whole, err := os.ReadFile(golden("leveldb", "tables", "basic_snappy_4k", "000005.ldb"))
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"first 1,000 bytes": whole[:1000], "empty": {}, "text": []byte("hello\n"),
	} {
		for _, age := range []time.Duration{0, time.Hour, -time.Hour} {
			dir := t.TempDir()
			path := filepath.Join(dir, "000005.ldb")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			changed := time.Now().Add(-age)
			require.NoError(t, os.Chtimes(path, changed, changed))
			want, verdict := exitCannotRun, "1 table unfinished\n"
			if age > 0 {
				want, verdict = exitFault, "FAULTY: 1 table corrupt\n"
			}
			for _, arg := range []string{path, dir} {
				status, out, _ := filterdump(t, "--verify", arg)
				require.Equal(t, want, status, "%s, %v old, %s: %s", name, age, arg, out)
				require.True(t, strings.HasPrefix(out, verdict), out)
			}
		}
	}
}

// Tables that the manifest does not name are counted and left out: a process that was killed leaves
// them, finished or not.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	writers[inWindows](t, dir, mustExact(), 1, 3000)
	_, sound, _ := filterdump(t, "--verify", dir)
	sound, _, _ = strings.Cut(sound, "\n")
	paths, err := tables.Find(dir)
	require.NoError(t, err)
	whole, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	long := time.Now().Add(-time.Hour)
	for name, content := range map[string][]byte{
		"900001.ldb": whole[:1000], "900002.sst": nil, "900003.ldb": whole, "text.ldb": []byte("a\n"),
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		require.NoError(t, os.Chtimes(path, long, long))
	}
	status, out, _ := filterdump(t, "--verify", dir)
	require.Zero(t, status, out)
	first, _, _ := strings.Cut(out, "\n")
	require.Equal(t, sound+"; 4 tables left out, which no manifest names", first)
	_, d := filterdumpJSON(t, dir)
	require.Equal(t, 4, d.Paths[0].Unnamed)
	require.Len(t, d.Tables, len(paths))

	// What the manifest names must be whole.
	require.NoError(t, os.WriteFile(paths[0], whole[:1000], 0o600))
	require.NoError(t, os.Chtimes(paths[0], long, long))
	status, out, _ = filterdump(t, "--verify", dir)
	require.Equal(t, exitFault, status)
	require.Contains(t, out, "FAULTY: 1 table corrupt")
}

// snapshot returns the names, times and contents of all files in a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		files[e.Name()] = fmt.Sprintf("%v %v %s", info.ModTime(), info.Mode(), b)
	}
	return files
}

// Nothing in a database changes, and no lock is in the way.
func TestDatabaseInUse(t *testing.T) {
	dir := t.TempDir()
	o := &opt.Options{WriteBuffer: 64 << 10}
	require.NoError(t, goleveldb.Configure(o, mustExact()))
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	value := make([]byte, 100)
	write := func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			err = db.Put([]byte(fmt.Sprintf("key%09d", i*7919%100_000)), value, nil)
		}
		return err
	}
	require.NoError(t, write(0, 5000))
	require.NoError(t, db.Close())

	o.ReadOnly = true // then it holds the lock, and changes nothing itself
	db, err = leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	before := snapshot(t, dir)
	for _, args := range [][]string{{"--verify"}, {"--json"}, nil} {
		status, out, stderr := filterdump(t, append(args, dir)...)
		require.Zero(t, status, stderr)
		require.Contains(t, out, "leveldb.BuiltinBloomFilter2")
	}
	require.Equal(t, before, snapshot(t, dir))
	require.NoError(t, db.Close())

	o.ReadOnly = false
	db, err = leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	defer db.Close()
	// While it writes and compacts, tables come and go. None of that is a fault.
	done := make(chan error, 1)
	go func() { done <- write(5000, 20_000) }()
	for running, rounds := true, 0; running || rounds < 3; rounds++ {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		default:
		}
		args := []string{"--verify", dir}
		if rounds%2 > 0 {
			args = args[1:]
		}
		status, out, stderr := filterdump(t, args...)
		require.Equal(t, exitSound, status, "%s%s", out, stderr)
		if rounds%2 > 0 { // on a busy machine, tables are gone again and again
			require.Regexp(t, `Counted with [1-9]|No verdict: \d+ of its tables could not`, out)
		}
	}
}
