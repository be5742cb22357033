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
	var limit syscall.Rlimit
	memory := memoryOf("/sys/fs/cgroup")
	mapped := numberIn("/proc/self/statm") * uint64(os.Getpagesize())
	if memory == 0 || mapped == 0 || syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil {
		return
	}
	most := mapped + max(memory/2, 2<<30) // threads reserve addresses too
	limit.Cur = min(limit.Cur, most)
	_ = syscall.Setrlimit(syscall.RLIMIT_AS, &limit)
}

// memoryOf returns how many bytes of memory the machine has, or the container, if that may have
// less: by the files of version 2 of the kernel's cgroups, and of version 1. It is 0 if neither
// tells.
func memoryOf(cgroup string) (least uint64) {
	var machine syscall.Sysinfo_t
	if syscall.Sysinfo(&machine) == nil {
		least = uint64(machine.Totalram) * uint64(machine.Unit)
	}
	for _, name := range []string{"/memory.max", "/memory/memory.limit_in_bytes"} {
		if n := numberIn(cgroup + name); n > 0 && n < least {
			least = n
		}
	}
	return least
}

// numberIn returns the number with which a file begins, 0 if there is none.
func numberIn(path string) (n uint64) {
	text, err := os.ReadFile(path)
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	if err != nil {
		return 0
	}
	return n
}
