package ondisk

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/stretchr/testify/require"
)

// newTable returns a table of Pebble's with the keys a and b.
func newTable(t *testing.T, comparer string) string {
	dir := t.TempDir()
	c := *pebble.DefaultComparer
	c.Name = comparer
	db, err := pebble.Open(dir, &pebble.Options{
		Comparer: &c, FormatMajorVersion: pebble.FormatMinSupported})
	require.NoError(t, err)
	require.NoError(t, db.Set([]byte("a"), nil, nil))
	require.NoError(t, db.Set([]byte("b"), nil, nil))
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	return paths[0]
}

func TestKeys(t *testing.T) {
	path := newTable(t, pebble.DefaultComparer.Name)
	require.True(t, IsTable(path))
	require.False(t, IsTable(filepath.Join(filepath.Dir(path), "CURRENT")))
	require.False(t, IsTable(filepath.Dir(path)))
	read := func(path string) (got []string) {
		leftOut, err := Keys(context.Background(), path, func(key []byte) error {
			got = append(got, string(key))
			return nil
		})
		require.NoError(t, err)
		require.Zero(t, leftOut)
		return got
	}
	require.Equal(t, []string{"a", "b"}, read(path))
	require.Equal(t, []string{"a", "b"}, read(filepath.Dir(path)))
	enough := errors.New("enough")
	_, err := Keys(context.Background(), path, func([]byte) error { return enough })
	require.Equal(t, enough, err)
}

// Keys come in several answers if there are many, and each once.
func TestManyKeys(t *testing.T) {
	dir := t.TempDir()
	db, err := pebble.Open(dir, &pebble.Options{MemTableSize: 256 << 20})
	require.NoError(t, err)
	const n = 20_000
	key := make([]byte, 2000) // 40 MB in all
	snapshots := make([]*pebble.Snapshot, 0, 2)
	for range 2 { // versions
		for i := range n {
			binary.BigEndian.PutUint32(key, uint32(i))
			require.NoError(t, db.Set(key, nil, pebble.NoSync))
		}
		snapshots = append(snapshots, db.NewSnapshot())
	}
	require.NoError(t, db.Flush())
	seen := make([]int, n)
	_, err = Keys(context.Background(), dir, func(key []byte) error {
		seen[binary.BigEndian.Uint32(key)]++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]int{1}, n), seen)
	for _, s := range snapshots {
		require.NoError(t, s.Close())
	}
	require.NoError(t, db.Close())
}

func TestErrors(t *testing.T) {
	read := func(path string) error {
		_, err := Keys(context.Background(), path, func([]byte) error { return nil })
		return err
	}
	require.ErrorContains(t, read(filepath.Join(t.TempDir(), "000001.sst")), "no such file")
	// Rows of a comparer that is not known: the filters may know a part of each key.
	other := newTable(t, "test.other")
	require.ErrorContains(t, read(other), "the comparer test.other is not known")
	// A handle that Pebble's reader does not expect after a footer without a checksum.
	path := newTable(t, pebble.DefaultComparer.Name)
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	footer := table[len(table)-pebblesst.TableFormatRocksDBv2.FooterSize():]
	for i := range 11 {
		footer[1+i] = 0xff
	}
	require.NoError(t, os.WriteFile(path, table, 0o600))
	require.ErrorContains(t, read(path), "Pebble's reader crashed: ")
}
