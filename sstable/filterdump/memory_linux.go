package main

import (
	"fmt"
	"os"
	"syscall"
)

// limitMemory bounds what this process may map from now on to half of the memory: a forged length
// takes it neither from the database that is in use nor from its neighbors. What is mapped already
// does not count: Go's runtime reserves a gigabyte of addresses that it may never use, and the race
// detector terabytes.
func limitMemory() {
	var machine syscall.Sysinfo_t
	var limit syscall.Rlimit
	var mapped uint64 // pages
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(text), &mapped)
	}
	if err != nil || syscall.Sysinfo(&machine) != nil ||
		syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil {
		return
	}
	memory := uint64(machine.Totalram) * uint64(machine.Unit)
	most := mapped*uint64(os.Getpagesize()) + max(memory/2, 2<<30) // threads reserve addresses too
	limit.Cur = min(limit.Cur, most)
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
}
