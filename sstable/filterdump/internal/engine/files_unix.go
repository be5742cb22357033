//go:build unix

package engine

import "syscall"

// filesAllowed returns how many files the system lets this process open.
func filesAllowed() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 128
	}
	return uint64(limit.Cur)
}
