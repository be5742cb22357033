package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// toVerify asks for a survey without a sample.
var toVerify = &Question{Verify: true}

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
	path := pebbleTable(t)
	for ctx.Err() == nil {
		Reader{}.Read(ctx, path, toVerify)
	}
	require.Equal(t, Unreadable, Reader{}.Read(ctx, path, toVerify).Status)
}

// A child that takes too long is ended. Its table is called neither sound nor corrupt.
func TestChildTakesTooLong(t *testing.T) {
	limit := childTime
	defer func() { childTime = limit }()
	childTime = time.Nanosecond
	path := pebbleTable(t)
	r := Reader{}.Read(context.Background(), path, toVerify)
	require.Equal(t, Unsupported, r.Status)
	require.Equal(t, "Pebble: reading it took longer than 1ns", r.Reason)
}

// A program whose file is gone, as after an update, says so, and does not say it of the table.
func TestNoChild(t *testing.T) {
	defer func() { executable = os.Executable }()
	executable = func() (string, error) { return filepath.Join(t.TempDir(), "gone"), nil }
	r := Reader{}.Read(context.Background(), pebbleTable(t), toVerify)
	require.Equal(t, Unreadable, r.Status)
	require.Contains(t, r.Reason, "no process to read the table: ")
}

// A table that is deleted just before a child opens it is told from one that cannot be read.
func TestVanishesBeforeChild(t *testing.T) {
	o := order{Path: filepath.Join(t.TempDir(), "gone.sst"), Question: &Question{Keys: true}}
	r, err := readInChild(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, Vanished, r.Status)
}

// The errors of reading come from a child as from this process.
func TestChildErrors(t *testing.T) {
	path := pebbleTable(t)
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	table[3] ^= 1
	require.NoError(t, os.WriteFile(path, table, 0o600))
	key := []byte("key000")
	r := Reader{}.Read(context.Background(), path, &Question{Next: [][]byte{key}})
	require.Equal(t, Corrupt, r.Status)
	require.Contains(t, r.Reason, "does not match its checksum")
	require.Equal(t, Corrupt, Reader{}.Read(context.Background(), path, toVerify).Status)
}

// What a block's reader does not read is no fault of the table.
func TestUnsupported(t *testing.T) {
	for _, cause := range []error{sstable.ErrTooLarge, sstable.ErrCompression} {
		r := failed("x", &sstable.CorruptionError{File: "x", Cause: cause})
		require.Equal(t, Unsupported, r.Status)
		require.Equal(t, "at offset 0: "+cause.Error(), r.Reason)
	}
}

// A result does not keep what would add up for many tables: the filters, and the sample.
func TestResultsAreSmall(t *testing.T) {
	const path = "../../../../testdata/leveldb/tables/basic_snappy_4k/000005.ldb"
	sample := NewSample(All)
	results, err := Reader{}.Verify(context.Background(), []string{path}, sample)
	require.NoError(t, err)
	require.Equal(t, Sound, results[0].Status)
	require.Nil(t, results[0].Filters.Each)
	require.Nil(t, results[0].Sample)
	require.NotEmpty(t, sample.Keys())
}
