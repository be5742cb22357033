package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file system of a few MB fills up somewhere in the load; where differs from size to size.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, engine := range []string{"goleveldb", "pebblev1", "pebblev2"} {
		for _, size := range []string{"1m", "5m", "9m"} {
			t.Run(engine+"/"+size, func(t *testing.T) {
				t.Parallel() // it waits most of the time
				dir := t.TempDir()
				if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
					t.Skipf("needs to mount a small file system, as root can: %v", err)
				}
				defer func() { require.NoError(t, syscall.Unmount(dir, 0)) }()
				p := start(t, dir, "--num=100000", "--engines="+engine)
				r := p.finish(t)
				require.Equal(t, exitCannotRun, r.status, r.stderr)
				require.Contains(t, r.stderr, syscall.ENOSPC.Error())
				require.Equal(t, 2, strings.Count(r.stderr, "\n"), "progress and one line: %s",
					r.stderr)
				require.Empty(t, r.left)
				require.Empty(t, r.stdout)
			})
		}
	}
}
