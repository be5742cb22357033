package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// Every answer and every filter is counted, and nothing else.
func TestCounted(t *testing.T) {
	for _, kind := range allKinds {
		c := testkit.Must(of(kind, 10, WithCounters()))
		require.Zero(t, c.Counters())

		rng := testkit.Rand(t, 10)
		keys := testkit.Keys(rng, 1000)
		builder := c.NewBuilder()
		for _, key := range keys {
			builder.Add(key)
		}
		require.Zero(t, c.Counters(), "a filter counts when it is finished")
		filter := builder.Finish([]byte("before"))[len("before"):]
		want := Counters{Filters: 1, Keys: 1000, Bytes: uint64(len(filter))}
		require.Equal(t, want, c.Counters())
		for _, key := range append(keys, testkit.Keys(rng, 1000)...) {
			if c.MayContain(filter, key) {
				want.MayContain++
			} else {
				want.Absent++
			}
		}
		require.Equal(t, want, c.Counters())
		require.Greater(t, want.Absent, uint64(900))
	}
}
