package scan

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// pebbleTable returns a table of Pebble's.
func pebbleTable(t *testing.T) string {
	dir := t.TempDir()
	db, err := pebble.Open(dir, &pebble.Options{})
	require.NoError(t, err)
	for i := range 1000 {
		require.NoError(t, db.Set(fmt.Appendf(nil, "key%03d", i), nil, pebble.NoSync))
	}
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	return paths[0]
}

// An interrupted program ends its children.
func TestChildIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	r := NewReader(Settings{})
	defer r.Close()
	q := request{Path: pebbleTable(t)}
	for ctx.Err() == nil {
		r.lookSafely(ctx, q)
	}
	require.Equal(t, Unreadable, r.lookSafely(ctx, q).Status)
}

// A child that takes too long is ended, and its table is not called sound. The next one is read by
// another child.
func TestChildTakesTooLong(t *testing.T) {
	limit := childTime
	defer func() { childTime = limit }()
	childTime = time.Nanosecond
	reader := NewReader(Settings{})
	defer reader.Close()
	q := request{Path: pebbleTable(t)}
	r := reader.lookSafely(context.Background(), q)
	require.Equal(t, Corrupt, r.Status)
	require.Equal(t, "Pebble's reader took longer than 1ns", r.Reason)
	_, err := reader.Ask(context.Background(), q.Path, &Questions{})
	require.ErrorContains(t, err, "took longer")
	childTime = limit
	require.Equal(t, NoFilter, reader.lookSafely(context.Background(), q).Status)
}

// A program whose file is gone, as after an update, says so, and does not say it of the table.
func TestNoChild(t *testing.T) {
	defer func() { executable = os.Executable }()
	executable = func() (string, error) { return filepath.Join(t.TempDir(), "gone"), nil }
	reader := NewReader(Settings{})
	defer reader.Close()
	r := reader.lookSafely(context.Background(), request{Path: pebbleTable(t)})
	require.Equal(t, Unreadable, r.Status)
	require.Contains(t, r.Reason, "no process to read the table: ")
	_, err := reader.Ask(context.Background(), r.Path, &Questions{})
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
}

// A table that is deleted just before a child opens it is told from one that cannot be read.
func TestVanishesBeforeChild(t *testing.T) {
	reader := NewReader(Settings{})
	defer reader.Close()
	q := request{Path: filepath.Join(t.TempDir(), "gone.sst"), Ask: &Questions{Keys: true}}
	_, err := reader.inChild(context.Background(), q)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// One child reads many tables.
func TestChildIsKept(t *testing.T) {
	reader := NewReader(Settings{})
	defer reader.Close()
	q := request{Path: pebbleTable(t)}
	for range 3 {
		require.Equal(t, NoFilter, reader.lookSafely(context.Background(), q).Status)
		require.Len(t, reader.idle, 1)
	}
}

// The errors of reading come from a child as from this process.
func TestChildErrors(t *testing.T) {
	path := pebbleTable(t)
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	table[3] ^= 1
	require.NoError(t, os.WriteFile(path, table, 0o600))
	reader := NewReader(Settings{})
	defer reader.Close()
	key := []byte("key000")
	_, err = reader.Ask(context.Background(), path, &Questions{Next: [][]byte{key}})
	require.ErrorContains(t, err, "does not match its checksum")
	require.Len(t, reader.idle, 1, "the child is well")
	require.Equal(t, Corrupt, reader.lookSafely(context.Background(), request{Path: path}).Status)
}

// What a block's reader does not read is no fault of the table.
func TestUnsupported(t *testing.T) {
	for _, cause := range []error{sstable.ErrTooLarge, sstable.ErrCompression} {
		r := &Result{Path: "x"}
		r.fail(&sstable.CorruptionError{File: "x", Cause: cause})
		require.Equal(t, Unsupported, r.Status)
		require.Equal(t, "at offset 0: "+cause.Error(), r.Reason)
	}
}
