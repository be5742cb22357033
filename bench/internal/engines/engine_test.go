package engines

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Settle ends when the engine was idle often enough in a row.
func TestSettleEnds(t *testing.T) {
	calls := 0 // idle from the 8th time on; the busy ones before start the count anew
	require.NoError(t, settle(context.Background(), func() (bool, error) {
		calls++
		return calls >= 8 || calls%3 == 0, nil
	}))
	require.Equal(t, 7+quietPolls, calls)
	failed := errors.New("failed")
	require.ErrorIs(t, settle(context.Background(), func() (bool, error) { return true, failed }),
		failed)
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(failed)
	require.ErrorIs(t, settle(ended, func() (bool, error) { return false, nil }), failed)
}
