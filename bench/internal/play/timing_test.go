package play

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A watched context requires that its reply is the only one that computes for long. It ends when it
// is asked.
type watched struct {
	context.Context
	t *testing.T
}

func (w watched) Err() error {
	require.False(w.t, busy.TryLock())
	return context.Canceled
}

func TestBusy(t *testing.T) {
	ctx, c := watched{context.Background(), t}, &choice{"ribbon", 7.5, 3000}
	_, err := measure(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	_, err = compare(ctx, c)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, busy.TryLock(), "others may compute")
	busy.Unlock()
}

// The context of a reply ends when the page is left.
func TestLeftPage(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	server := httptest.NewServer(answering(func(ctx context.Context, _ *choice) (int, error) {
		leave()
		<-ctx.Done()
		ended <- ctx.Err()
		return 0, ctx.Err()
	}))
	defer server.Close()
	r, err := http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader("{}"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	_, err = http.DefaultClient.Do(r)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-ended, context.Canceled)
}
