package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

func TestVanishedTable(t *testing.T) {
	results, err := scan(context.Background(), []string{filepath.Join(t.TempDir(), "000001.ldb")}, settings{}, func() {})
	require.NoError(t, err)
	require.Equal(t, Vanished, results[0].Status)
	r := newReport([]place{{path: "db", tables: []string{results[0].Path}}}, results)
	require.Equal(t, "1 table deleted by the database meanwhile", r.Verdict)
	require.Equal(t, exitSound, exitStatus(r.Paths))
}

// A table without an end is being written if it has just changed, and corrupt otherwise.
func TestUnfinishedTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.ldb")
	require.NoError(t, os.WriteFile(path, []byte("a first block"), 0o600))
	require.Equal(t, Unfinished, scanTable(context.Background(), path, settings{}).Status)
	old := time.Now().Add(-2 * recently)
	require.NoError(t, os.Chtimes(path, old, old))
	require.Equal(t, Corrupt, scanTable(context.Background(), path, settings{}).Status)

	// One that has its end is finished.
	whole, err := os.ReadFile(golden("leveldb", "tables", "one_key", "000005.ldb"))
	require.NoError(t, err)
	whole[3] ^= 1
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.Equal(t, Corrupt, scanTable(context.Background(), path, settings{}).Status)
}

// snapshot returns the names, times and contents of all files in a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		require.NoError(t, err)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		files[path] = fmt.Sprintf("%v %v %x", info.ModTime(), info.Mode(), sha256.Sum256(b))
		return nil
	}))
	return files
}

// Nothing in a database changes, and no lock is in the way.
func TestDatabaseInUse(t *testing.T) {
	dir := t.TempDir()
	p, err := policy.NewBloom(10)
	require.NoError(t, err)
	o := &opt.Options{WriteBuffer: 64 << 10}
	require.NoError(t, goleveldb.Configure(o, p))
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
	for _, args := range [][]string{{"-verify"}, {"-json"}, {"-key", "key000000001"}, {"-map"}} {
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
	go func() { done <- write(5000, 60_000) }()
	for running, rounds := true, 0; running || rounds < 3; rounds++ {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		default:
		}
		status, out, stderr := filterdump(t, "-verify", "-absent", "100", dir)
		require.Equal(t, exitSound, status, "%s%s", out, stderr)
	}
}

// The results of many tables take little memory: their samples and filters are let go.
func TestResultsAreSmall(t *testing.T) {
	const many = 300
	paths := make([]string, many)
	for i := range paths {
		paths[i] = golden("leveldb", "tables", "basic_snappy_4k", "000005.ldb")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	results, err := scan(context.Background(), paths, settings{analyse: analysis.Options{Absent: 1000}}, func() {})
	require.NoError(t, err)
	grown := int64(heap()) - int64(before)
	require.Equal(t, Sound, results[many-1].Status)
	require.Less(t, grown/many, int64(10<<10), "bytes kept of each table; its filters alone have 6,600, and its samples more than 100,000")
}
