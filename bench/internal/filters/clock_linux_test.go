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
	const others = 10 * time.Millisecond
	start, done := Now(), make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		for began := Now(); Now()-began < others; {
		}
		close(done)
	}()
	<-done
	require.Less(t, Now()-start, others)
}
