//go:build unix

package main

import (
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
