package child

import (
	"context"
	"errors"
	"math"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// allocate allocates all that this process may map, which is more than the rest.
var allocate = New("allocate", func(int) (int, error) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt {
		return 0, nil
	}
	return len(make([]byte, limit.Cur)), nil
})

// A child may not take the machine's memory.
func TestMemory(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("no slice is as long as the limit")
	}
	_, err := allocate.Run(context.Background(), time.Minute, 0)
	if !errors.Is(err, ErrMemory) { // the race detector's runtime has another text
		require.ErrorContains(t, err, "-race mode")
	}
}
