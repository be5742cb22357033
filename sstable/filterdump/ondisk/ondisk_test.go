package ondisk

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// newTable returns a table of Pebble's with the keys a and b, in a new directory of this name.
func newTable(t *testing.T, comparer, name string) string {
	dir := filepath.Join(t.TempDir(), name)
	c := *pebble.DefaultComparer
	c.Name = comparer
	db, err := pebble.Open(dir, &pebble.Options{
		Comparer: &c, FormatMajorVersion: pebble.FormatMinSupported, Logger: quiet{}})
	require.NoError(t, err)
	require.NoError(t, db.Set([]byte("a"), nil, nil))
	require.NoError(t, db.Set([]byte("b"), nil, nil))
	require.NoError(t, db.Flush())
	require.NoError(t, db.Close())
	_, paths, err := tables.Of(dir)
	require.NoError(t, err)
	require.Len(t, paths, 1)
	return paths[0]
}

// keysOf returns the keys at a path.
func keysOf(path string) (keys []string, err error) {
	leftOut, err := Keys(context.Background(), path, func(key []byte) error {
		keys = append(keys, string(key))
		return nil
	})
	if leftOut > 0 {
		err = fmt.Errorf("%d tables are left out", leftOut)
	}
	return keys, err
}

// A directory may have any name: one that is a pattern, and one that is not UTF-8.
func TestKeys(t *testing.T) {
	for _, name := range []string{"db[1]", "db\xff"} {
		path := newTable(t, pebble.DefaultComparer.Name, name)
		dir := filepath.Dir(path)
		require.True(t, IsTable(path))
		require.False(t, IsTable(filepath.Join(dir, "CURRENT")))
		require.False(t, IsTable(dir))
		for _, path := range []string{path, dir} {
			got, err := keysOf(path)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b"}, got)
		}
		v, err := Count(context.Background(), dir)
		require.NoError(t, err)
		require.Equal(t, "Too few keys: any filter does.", v.Sentence, "%q", name)
		require.EqualValues(t, 2, v.Keys)

		enough := errors.New("enough")
		_, err = Keys(context.Background(), path, func([]byte) error { return enough })
		require.Equal(t, enough, err)
	}
	got, err := keysOf("../../../testdata/goleveldb/name2_none_1k") // 3,300 entries
	require.NoError(t, err)
	require.Len(t, got, 3000)
	require.Len(t, slices.Compact(got), 3000)
}

func TestErrors(t *testing.T) {
	_, err := keysOf(filepath.Join(t.TempDir(), "000001.sst"))
	require.ErrorContains(t, err, "no such file")
	// Rows of a comparer that is not known: the filters may know a part of each key.
	_, err = keysOf(newTable(t, "test.other", "db"))
	require.ErrorContains(t, err, "the comparer test.other is not known")
}
