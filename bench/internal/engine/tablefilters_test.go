package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tables of C++ LevelDB; the numbers are those of a reader in Python.
func TestReadTableFilters(t *testing.T) {
	for _, c := range []struct {
		path             string
		blockBytes, keys int64
		filters          int
	}{
		{"large_values/000005.ldb", 1047, 50, 166 - 124}, // most of its windows are empty
		{"basic_snappy_4k/000005.ldb", 6617, 5000, 68 - 2},
		{"no_filter/000005.ldb", 0, 0, 0},
	} {
		var f tableFilters
		err := f.read(filepath.Join("..", "..", "..", "testdata", "leveldb", "tables", c.path))
		require.NoError(t, err)
		require.Equal(t, c.blockBytes, f.blockBytes, c.path)
		require.Equal(t, c.keys, f.keys, c.path)
		require.Len(t, f.filters, c.filters, c.path)
		var sum int64
		for _, n := range f.filters {
			sum += n
		}
		require.LessOrEqual(t, sum, c.blockBytes)
	}
	path := filepath.Join(t.TempDir(), "no table")
	require.NoError(t, os.WriteFile(path, make([]byte, 100), 0o600))
	err := new(tableFilters).read(path)
	require.Error(t, err)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	err = new(tableFilters).read(path)
	require.Error(t, err)
}
