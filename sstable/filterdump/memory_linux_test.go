package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The limit is below the machine's memory, and below a container's.
func TestMemory(t *testing.T) {
	cgroup := t.TempDir()
	machine := memoryOf(cgroup)
	var info syscall.Sysinfo_t
	require.NoError(t, syscall.Sysinfo(&info))
	require.Equal(t, uint64(info.Totalram)*uint64(info.Unit), machine)
	require.NoError(t, os.Mkdir(filepath.Join(cgroup, "memory"), 0o700))
	for _, c := range []struct {
		name, text string
		want       uint64
	}{
		{"memory.max", "max\n", machine},
		{"memory.max", "1073741824\n", 1 << 30},
		{"memory/memory.limit_in_bytes", "9223372036854771712\n", 1 << 30},
		{"memory/memory.limit_in_bytes", "536870912\n", 1 << 29},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(cgroup, c.name), []byte(c.text), 0o600))
		require.Equal(t, c.want, memoryOf(cgroup), c)
	}

	var before, after syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_AS, &before))
	mapped := numberIn("/proc/self/statm") * uint64(os.Getpagesize())
	limitMemory()
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_AS, &after))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_AS, &before)) }()
	require.Less(t, after.Cur-mapped, max(machine, 3<<30))
}
