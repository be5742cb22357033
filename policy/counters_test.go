package policy

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// Every answer and every filter is counted, and nothing else.
func TestCounted(t *testing.T) {
	for _, kind := range allKinds {
		t.Run(kind, func(t *testing.T) { testCounted(t, kind) })
	}
}

func testCounted(t *testing.T, kind string) {
	c := testkit.Must(of(kind, 10, WithCounters()))
	require.Zero(t, c.Counters())

	rng := testkit.Rand(t, 10)
	keys, absent := testkit.Keys(rng, 1000), testkit.Keys(rng, 1000)
	builder := c.NewBuilder()
	for _, key := range keys {
		builder.Add(key)
	}
	require.Zero(t, c.Counters(), "a filter counts when it is finished")
	filter := builder.Finish([]byte("before"))[len("before"):]
	require.Equal(t, references[kind](10, keys), filter)
	require.Equal(t, Counters{Filters: 1, Keys: 1000, Bytes: uint64(len(filter))}, c.Counters())
	builder.Add(keys[0])
	builder.Finish(nil)
	size := uint64(len(filter)) + c.FilterSize(1)
	require.Equal(t, Counters{Filters: 2, Keys: 1001, Bytes: size}, c.Counters())

	want := c.Counters()
	want.MayContain = 1000
	for _, key := range keys {
		require.True(t, c.MayContain(filter, key))
	}
	for _, key := range absent {
		if c.MayContain(filter, key) {
			want.MayContain++
		} else {
			want.Absent++
		}
	}
	require.Equal(t, want, c.Counters())
	require.EqualValues(t, 2000, want.Absent+want.MayContain)
	require.Greater(t, want.Absent, uint64(900))
}

// No answer is lost when many goroutines count.
func TestCountedSideBySide(t *testing.T) {
	const workers, checks = 50, 10000
	c := testkit.Must(NewBloom(10, WithCounters()))
	filter := testkit.Must(NewBloom(10)).AppendFilter(nil, [][]byte{{1}})
	var working sync.WaitGroup
	for range workers {
		working.Add(1)
		go func() {
			defer working.Done()
			for i := range checks {
				c.MayContain(filter, []byte{byte(1 + i%2)})
			}
		}()
	}
	working.Wait()
	require.Equal(t, Counters{Absent: workers * checks / 2, MayContain: workers * checks / 2},
		c.Counters())
}
