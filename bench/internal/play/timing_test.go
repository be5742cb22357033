package play

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
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
	for _, n := range []int{20, 3000, 100_000} {
		left := 3 // for each work
		all, err := compare(watched{context.Background(), t, &left}, &choice{"ribbon", 7.5, n})
		require.NoError(t, err)
		require.Len(t, all, 3)
		for i, name := range []string{"builds", "hits", "misses"} {
			w := all[i]
			require.Equal(t, name, w.Name)
			require.Positive(t, w.Ns)
			require.Positive(t, w.Base)
			require.Len(t, w.Ratios, turns)
			require.True(t, slices.IsSorted(w.Ratios))
			require.Positive(t, w.Ratios[0])
		}
	}
}

func TestTimingEnds(t *testing.T) {
	for left := range 3 {
		_, err := compare(watched{context.Background(), t, &left}, &choice{"bloom", 10, 1000})
		require.ErrorIs(t, err, context.Canceled)
	}
	require.True(t, busy.TryLock(), "others may compute")
	busy.Unlock()
	_, err := compare(context.Background(), &choice{"bloom", 101, 1000})
	require.ErrorContains(t, err, "goleveldb", "which takes 100 bits per key at most")
}

// Hits are of keys that are in the filters, each once, and misses of others.
func TestWorks(t *testing.T) {
	k, err := filterbench.FromString("bloom", 20)
	require.NoError(t, err)
	f, found := k.New(), 0
	count := f.Count
	f.Count = func(filter []byte, keys [][]byte) int {
		found += count(filter, keys)
		return 0
	}
	present := random.Keys([]uint64{0, 1, 2, 3, 4, 5, 6, 7, 8}, seed)
	absent := random.Keys([]uint64{10, 11, 12, 13, 14, 15, 16, 17, 18}, seed)
	for i, want := range []int{0, 9, 0} {
		found = 0
		works := works(f, 3, present, absent)
		works[0]()
		works[i]()
		require.Equal(t, want, found)
	}
}

// takeTurns lets another contestant begin each time.
func TestTurns(t *testing.T) {
	var order strings.Builder
	w := takeTurns("x", 1, func() { order.WriteByte('a') }, func() { order.WriteByte('b') })
	require.Equal(t, strings.Repeat("abba", turns)[:2*turns], order.String())
	require.Equal(t, "x", w.Name)
}

// The context of a reply ends when the page is left.
func TestLeftPage(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan error)
	server := httptest.NewServer(answering(func(ctx context.Context, _ *choice) (int, error) {
		asked <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
		return 0, ctx.Err()
	}))
	defer server.Close()
	ctx, leave := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader("{}"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	left := make(chan error)
	go func() {
		_, err := http.DefaultClient.Do(r)
		left <- err
	}()
	<-asked
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.ErrorIs(t, <-left, context.Canceled)
}
