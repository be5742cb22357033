package play

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A watched context requires that its reply is the only one that computes for long. It ends after
// some questions.
type watched struct {
	context.Context
	t    *testing.T
	left *int
}

func (w watched) Err() error {
	require.False(w.t, busy.TryLock())
	if *w.left--; *w.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestTiming(t *testing.T) {
	left := 3 * 3 * turns // works, contestants
	all, err := compare(watched{context.Background(), t, &left}, &choice{"ribbon", 7.5, 3000})
	require.NoError(t, err)
	require.Len(t, all, 3)
	for i, name := range []string{"builds", "hits", "misses"} {
		w := all[i]
		require.Equal(t, name, w.Name)
		require.Positive(t, min(w.Ns, w.Base, w.Low))
		require.IsNonDecreasing(t, []float64{w.Low, w.Ratio, w.High})
	}
	left = 2
	_, err = compare(watched{context.Background(), t, &left}, &choice{"bloom", 10, 1000})
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
