//go:build unix

package levelbench

import (
	"syscall"
	"time"
)

// cpuTime returns the time that all of the process's threads have spent on processors.
func cpuTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}
