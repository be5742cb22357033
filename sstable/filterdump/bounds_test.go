package main

import (
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireCheap runs the program, which must not allocate much.
func requireCheap(t *testing.T, args ...string) (status int, out string) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	status, out, _ = filterdump(t, args...)
	metrics.Read(sample)
	require.Less(t, sample[0].Value.Uint64()-before, uint64(64<<20), "bytes allocated")
	return status, out
}

// What names a directory's manifest, and the manifest, are not read whole.
func TestLargeManifest(t *testing.T) {
	for _, name := range []string{"CURRENT", "MANIFEST-000002"} {
		dir := manifestIn(t, name, func(path string) error {
			return os.WriteFile(path, nil, 0o600)
		})
		require.NoError(t, os.Truncate(filepath.Join(dir, name), 6<<30)) // no byte is on the disk
		status, out := requireCheap(t, "-verify", dir)
		require.Equal(t, exitSound, status, out)
	}
}

// manifestIn returns a database's directory in which create has made CURRENT or the manifest.
func manifestIn(t *testing.T, name string, create func(path string) error) (dir string) {
	dir = t.TempDir()
	good, err := os.ReadFile(golden("leveldb", "tables", "one_key", "000005.ldb"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000005.ldb"), good, 0o600))
	current := filepath.Join(dir, "CURRENT")
	require.NoError(t, os.WriteFile(current, []byte("MANIFEST-000002\n"), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	require.NoError(t, create(filepath.Join(dir, name)))
	return dir
}
