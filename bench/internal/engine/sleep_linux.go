package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep sleeps for d, or less. time.Sleep would take a millisecond, because Go waits for events of
// the network with that resolution. By default Linux lets a thread oversleep by 50 us.
func sleep(d time.Duration) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil) // an interrupted sleep is continued
}
