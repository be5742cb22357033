package filters

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now reads the clock of the thread, which stands still while other programs have the processor. A
// goroutine that calls it keeps its thread (runtime.LockOSThread).
func Now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		panic("no clock of the thread")
	}
	return time.Duration(t.Nano())
}
