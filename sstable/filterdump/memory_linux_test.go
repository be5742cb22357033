package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Then half as much can be mapped as the machine has, beside what is, and not all of it.
func TestLimitMemory(t *testing.T) {
	var machine syscall.Sysinfo_t
	require.NoError(t, syscall.Sysinfo(&machine))
	mapping := func(size uint64) error {
		const flags = syscall.MAP_ANON | syscall.MAP_PRIVATE
		b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_NONE, flags)
		if err == nil {
			require.NoError(t, syscall.Munmap(b))
		}
		return err
	}
	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_AS, &before))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_AS, &before)) }()
	all := max(uint64(machine.Totalram)*uint64(machine.Unit), 4<<30)
	require.NoError(t, mapping(all))
	limitMemory()
	require.Error(t, mapping(all))
	require.NoError(t, mapping(all/2-512<<20)) // more may be mapped meanwhile
}
