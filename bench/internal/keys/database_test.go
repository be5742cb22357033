package keys

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..", "testdata", "leveldb", "tables")

// requireKeys reads a path that has these keys.
func requireKeys(t *testing.T, want []string, path string) {
	keys, sampled, err := Read(context.Background(), path)
	require.NoError(t, err)
	require.False(t, sampled)
	require.Equal(t, want, texts(keys))
}

func texts(keys List) (all []string) {
	for _, key := range keys {
		all = append(all, string(key))
	}
	return all
}

// Of a database with too many keys comes a sample.
func TestSampledDatabase(t *testing.T) {
	const room = 1500
	dir := filepath.Join(root, "multi_level")
	all, sampled, err := Read(context.Background(), dir)
	require.NoError(t, err)
	require.False(t, sampled)
	keys, sampled, err := read(context.Background(), dir, room*(sliceBytes+16))
	require.NoError(t, err)
	require.True(t, sampled)
	require.InDelta(t, room*3/4, len(keys), room/4)
	require.Subset(t, texts(all), texts(keys))
}

func TestNoDatabase(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root, "one_key", "000005.ldb"))
	require.NoError(t, err)
	damaged := slices.Clone(table)
	damaged[3] ^= 1
	for message, content := range map[string][]byte{
		"do not end in a magic number": table[:99], "000005.ldb: ": damaged, "no tables (.ldb, ": nil,
	} {
		path := t.TempDir()
		if content != nil {
			path = filepath.Join(path, "000005.ldb")
			require.NoError(t, os.WriteFile(path, content, 0o600))
		}
		_, _, err := Read(context.Background(), path)
		require.ErrorContains(t, err, message)
	}
}
