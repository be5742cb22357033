//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe that is named like a table is not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	for _, args := range [][]string{{}, {"-verify"}} {
		status, out, _ := filterdump(t, append(args, path)...)
		require.Equal(t, exitCannotRun, status)
		require.Contains(t, out, "not a regular file")
	}
}

// Neither is one that a database's directory has where CURRENT or the manifest should be; a device
// there is not read.
func TestManifestThatIsNoFile(t *testing.T) {
	for _, name := range []string{"CURRENT", "MANIFEST-000002"} {
		for kind, create := range map[string]func(path string) error{
			"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			dir := manifestIn(t, name, create)
			status, out := requireCheap(t, "-verify", dir)
			require.Equal(t, exitSound, status, "%s, a %s: %s", name, kind, out)
		}
	}
}
