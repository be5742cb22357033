package policy

import (
	"syscall"
	"time"
	"unsafe"
)

// threadTime returns the time that the processor spent on this thread, which other programs on a
// busy machine disturb less than the time of day.
func threadTime() time.Duration {
	var t syscall.Timespec
	const clockThreadCPUTime = 3
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}
