package filters

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Work of other threads is not in a thread's time.
func TestClockOfThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := Now()
	done := make(chan time.Duration)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		began := Now()
		for Now()-began < 10*time.Millisecond {
		}
		done <- Now() - began
	}()
	others := <-done
	require.Less(t, Now()-start, others)
}
