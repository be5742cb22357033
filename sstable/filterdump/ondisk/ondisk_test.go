package ondisk

import (
	"context"
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

func TestKeys(t *testing.T) {
	path := newTable(t, pebble.DefaultComparer.Name)
	require.True(t, IsTable(path))
	require.False(t, IsTable(filepath.Join(filepath.Dir(path), "CURRENT")))
	require.False(t, IsTable(filepath.Dir(path)))
	var got []string
	require.NoError(t, Keys(path, func(key []byte) error {
		got = append(got, string(key))
		return nil
	}))
	require.Equal(t, []string{"a", "b"}, got)
	enough := errors.New("enough")
	require.Equal(t, enough, Keys(path, func([]byte) error { return enough }))
}

func TestErrors(t *testing.T) {
	read := func(path string) error { return Keys(path, func([]byte) error { return nil }) }
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

// Golden databases of goleveldb with and without filters, a damaged table and one that is gone.
func TestDescribe(t *testing.T) {
	golden := filepath.Join("..", "..", "..", "testdata", "goleveldb")
	var paths []string
	for _, name := range []string{"default_snappy", "name2_none_1k", "nofilter"} {
		tables, err := Find(filepath.Join(golden, name))
		require.NoError(t, err)
		require.Len(t, tables, 1)
		paths = append(paths, tables...)
	}
	damaged := filepath.Join(t.TempDir(), "000001.ldb")
	require.NoError(t, os.WriteFile(damaged, []byte("damaged"), 0o600))
	s, err := Describe(context.Background(), append(paths, damaged, damaged+"none"))
	require.NoError(t, err)
	require.Equal(t, 3, s.Tables)
	require.Equal(t, 1, s.Without)
	require.Equal(t, 2, s.Unread)
	require.Equal(t, map[string]int{
		"leveldb.BuiltinBloomFilter": 1, "leveldb.BuiltinBloomFilter2": 1}, s.Policies)
	require.EqualValues(t, 9000, s.Keys)
	require.InDelta(t, 10.2, s.BitsPerKey, 0.5)
	// The rates of the keys that are known to be absent.
	require.InDelta(t, 0.1, s.Between.Rate, 0.05)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Describe(ctx, paths)
	require.ErrorIs(t, err, context.Canceled)
}
