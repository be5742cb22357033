package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
)

// What the database has deleted meanwhile is no fault.
func TestVanishedTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.ldb")
	r := newReport(nil, []*Result{lookSafely(context.Background(), path, settings{})})
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
			if age != 0 { // else it may be being written: TestUnfinishedTable
				manifest := filepath.Join(dir, "MANIFEST-000002")
				require.NoError(t, os.WriteFile(manifest, nil, 0o600))
			}
			want, verdict := exitCannotRun, "1 table unfinished\n"
			if age > 0 {
				want, verdict = exitFault, "FAULTY: 1 table corrupt\n"
			}
			for _, arg := range []string{path, dir} {
				status, out, _ := filterdump(t, "-verify", arg)
				require.Equal(t, want, status, "%s, %v old, %s: %s", name, age, arg, out)
				require.True(t, strings.HasPrefix(out, verdict), out)
			}
		}
	}
}

// In a database's directory, a table without an end is looked at until it has one, is deleted, or
// has not changed for a while. One that grows for too long cannot be verified.
func TestUnfinishedTable(t *testing.T) {
	defer func(rest, most time.Duration) { writerRest, patience = rest, most }(writerRest, patience)
	writerRest = 500 * time.Millisecond
	whole, err := os.ReadFile(golden("leveldb", "tables", "one_key", "000005.ldb"))
	require.NoError(t, err)
	for want, then := range map[Status]func(path string) error{
		Sound:    func(path string) error { return os.WriteFile(path, whole, 0o600) },
		Vanished: os.Remove,
		Corrupt:  func(string) error { return nil },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "000005.ldb")
		require.NoError(t, os.WriteFile(filepath.Join(dir, "MANIFEST-000002"), nil, 0o600))
		require.NoError(t, os.WriteFile(path, whole[:100], 0o600))
		done := make(chan error, 1)
		time.AfterFunc(100*time.Millisecond, func() { done <- then(path) })
		require.Equal(t, want, scanTable(context.Background(), path, settings{}).Status)
		require.NoError(t, <-done)
	}
	dir := t.TempDir()
	writerRest, patience = time.Hour, 100*time.Millisecond
	for _, name := range []string{"MANIFEST-000002", "000005.ldb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), whole[:100], 0o600))
	}
	status, out, _ := filterdump(t, "-verify", dir)
	require.Equal(t, exitCannotRun, status)
	require.True(t, strings.HasPrefix(out, "1 table unfinished\n"), out)
	// One that has its end is not waited for.
	path := filepath.Join(t.TempDir(), "000005.ldb")
	whole[3] ^= 1
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	patience = time.Hour
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "MANIFEST-000002"), nil, 0o600))
	require.Equal(t, Corrupt, scanTable(context.Background(), path, settings{}).Status)
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
	for _, args := range [][]string{{"-verify"}, {"-json"}, {"-key", "key000000001"}} {
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
	end := 60_000
	if testing.Short() {
		end = 20_000
	}
	done := make(chan error, 1)
	go func() { done <- write(5000, end) }()
	for running, rounds := true, 0; running || rounds < 3; rounds++ {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		default:
		}
		status, out, stderr := filterdump(t, "-verify", dir)
		require.Equal(t, exitSound, status, "%s%s", out, stderr)
	}
}

// The results of many tables take little memory: their samples and filters are let go.
func TestResultsAreSmall(t *testing.T) {
	const many = 300
	path := golden("leveldb", "tables", "basic_snappy_4k", "000005.ldb")
	paths := slices.Repeat([]string{path}, many)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	results, err := scan(context.Background(), paths, settings{})
	require.NoError(t, err)
	grown := int64(heap()) - int64(before)
	require.Equal(t, Sound, results[many-1].Status)
	require.Less(t, grown/many, int64(5<<10),
		"bytes kept of each table; its filters alone have 6,600, and its samples more than 100,000")
}
