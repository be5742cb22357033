//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime/metrics"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe that is named like a table is not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	status, out, _ := filterdump(t, path)
	require.Equal(t, exitCannotRun, status)
	require.Contains(t, out, "not a regular file")
}

// What a database's directory has where CURRENT or the manifest should be is not waited for, and
// not read whole.
func TestManifestThatIsNone(t *testing.T) {
	for _, name := range []string{"CURRENT", "MANIFEST-000002"} {
		for kind, create := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"large file": func(path string) error {
				require.NoError(t, os.WriteFile(path, nil, 0o600))
				return os.Truncate(path, 256<<20) // no byte is on the disk
			},
		} {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(golden("leveldb", "tables", "one_key"))))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "CURRENT"),
				[]byte("MANIFEST-000002\n"), 0o600))
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
			require.NoError(t, create(filepath.Join(dir, name)))

			sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
			metrics.Read(sample)
			before := sample[0].Value.Uint64()
			status, out, _ := filterdump(t, "--verify", dir)
			metrics.Read(sample)
			require.Less(t, sample[0].Value.Uint64()-before, uint64(64<<20), "bytes allocated")
			require.Equal(t, exitSound, status, "%s, a %s: %s", name, kind, out)
		}
	}
}
