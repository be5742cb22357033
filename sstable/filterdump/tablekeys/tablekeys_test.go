package tablekeys

import (
	"errors"
	"os"
	"path/filepath"
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
	paths, err := Find(dir)
	require.NoError(t, err)
	require.Len(t, paths, 1)
	return paths[0]
}

func TestRead(t *testing.T) {
	path := newTable(t, pebble.DefaultComparer.Name)
	require.True(t, IsTable(path))
	require.False(t, IsTable(filepath.Join(filepath.Dir(path), "CURRENT")))
	require.False(t, IsTable(filepath.Dir(path)))
	var got []string
	require.NoError(t, Read(path, func(key []byte) error {
		got = append(got, string(key))
		return nil
	}))
	require.Equal(t, []string{"a", "b"}, got)
	enough := errors.New("enough")
	require.Equal(t, enough, Read(path, func([]byte) error { return enough }))
}

func TestErrors(t *testing.T) {
	read := func(path string) error { return Read(path, func([]byte) error { return nil }) }
	require.ErrorIs(t, read(filepath.Join(t.TempDir(), "000001.sst")), os.ErrNotExist)
	// Rows of a comparer that is not known: the filters may know a part of each key.
	other := newTable(t, "test.other")
	require.ErrorContains(t, read(other), "the comparer test.other is not known")
	// A handle that Pebble's reader does not expect behind a footer without a checksum.
	path := newTable(t, pebble.DefaultComparer.Name)
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	footer := table[len(table)-pebblesst.TableFormatRocksDBv2.FooterSize():]
	for i := range 11 {
		footer[1+i] = 0xff
	}
	require.NoError(t, os.WriteFile(path, table, 0o600))
	require.ErrorContains(t, read(path), "Pebble's reader fails on its bytes: ")
}
