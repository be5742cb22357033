package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file system that fills up ends the run with a message, somewhere in the load.
func TestLevelsFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=9m"); err != nil {
		t.Skipf("needs to mount a small file system, as root can: %v", err)
	}
	defer func() { require.NoError(t, syscall.Unmount(dir, 0)) }()
	cmd, stdout, stderr := command(dir, "levels", "-rounds=1", "-num=200000", "-plans=fuse")
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer timer.Stop()
	r := finish(t, cmd, dir, stdout, stderr)
	require.Equal(t, exitCannotRun, r.status, r.stderr)
	require.Contains(t, r.stderr, syscall.ENOSPC.Error())
	require.Equal(t, 2, strings.Count(r.stderr, "\n"), "progress and one line: %s", r.stderr)
	require.Empty(t, r.left)
	require.Empty(t, r.stdout)
}
