package main

import (
	"fmt"
	"os"
	"syscall"
)

// limitMemory bounds what this process may map from now on to half of the machine's memory: a
// forged length takes it neither from the database that is in use nor from its neighbors. What is
// mapped already does not count: Go's runtime reserves a gigabyte of addresses that it may never
// use, and the race detector terabytes.
func limitMemory() {
	var pages uint64
	statm, _ := os.ReadFile("/proc/self/statm")
	_, err := fmt.Sscan(string(statm), &pages) // the first number
	var machine syscall.Sysinfo_t
	if err != nil || syscall.Sysinfo(&machine) != nil {
		return
	}
	half := uint64(machine.Totalram) * uint64(machine.Unit) / 2
	limit := pages*uint64(os.Getpagesize()) + max(half, 2<<30) // threads reserve addresses too
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit})
}
