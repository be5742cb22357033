package policy

import (
	"encoding/json"
	"expvar"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

var _ expvar.Var = (*Counted)(nil)

func TestCounted(t *testing.T) {
	bloom := policytest.Must(NewBloom(10))
	c := Count(bloom)
	require.Equal(t, Name, c.Name())
	require.Same(t, bloom, c.Unwrap())
	require.Zero(t, c.Snapshot())

	rng := policytest.Rand(t, 10)
	keys, absent := policytest.Keys(rng, 1000), policytest.Keys(rng, 1000)
	builder := c.NewBuilder()
	for _, key := range keys {
		builder.Add(key)
	}
	require.Zero(t, c.Snapshot(), "a filter counts when it is finished")
	filter := builder.Finish([]byte("before"))[len("before"):]
	require.Equal(t, referenceFilter(10, keys), filter)
	require.Equal(t, Counters{Filters: 1, Keys: 1000, Bytes: uint64(len(filter))}, c.Snapshot())
	builder.Add(keys[0])
	builder.Finish(nil)
	require.Equal(t, Counters{Filters: 2, Keys: 1001, Bytes: uint64(len(filter)) + 9}, c.Snapshot())

	before := c.Snapshot()
	want := Counters{MayContain: 1000}
	for _, key := range keys {
		require.True(t, c.MayContain(filter, key))
	}
	for _, key := range absent {
		if c.MayContain(filter, key) {
			want.MayContain++
		} else {
			want.ReadsAvoided++
		}
	}
	require.Equal(t, want, c.Snapshot().Sub(before))
	require.Equal(t, uint64(2000), c.Snapshot().Checks())
	require.Greater(t, want.ReadsAvoided, uint64(900))

	var published map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.String()), &published))
	require.Equal(t, map[string]any{
		"name": Name, "checks": 2000.0, "reads_avoided": float64(want.ReadsAvoided),
		"may_contain": float64(want.MayContain), "filters": 2.0, "keys": 1001.0, "broken": 0.0,
		"bytes": float64(len(filter)) + 9,
	}, published)
}

// No answer is lost when many goroutines count, and snapshots taken meanwhile never go back.
func TestCountedSideBySide(t *testing.T) {
	const workers, checks = 50, 10000
	c := Count(policytest.Must(NewBloom(10)))
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, [][]byte{{1}})
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
	done := make(chan struct{})
	go func() {
		working.Wait()
		close(done)
	}()
	for last, working := c.Snapshot(), true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		now := c.Snapshot()
		require.GreaterOrEqual(t, now.ReadsAvoided, last.ReadsAvoided)
		require.GreaterOrEqual(t, now.MayContain, last.MayContain)
		last = now
	}
	require.Equal(t, Counters{ReadsAvoided: workers * checks / 2, MayContain: workers * checks / 2},
		c.Snapshot())
}

// A policy that is no Bloom is asked itself; here one that counts too, and one whose answers nobody
// else would give.
func TestCountedAsksThePolicy(t *testing.T) {
	inner := Count(policytest.Must(NewBloom(10)))
	outer := Count(inner)
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, [][]byte{{1}})
	require.True(t, outer.MayContain(filter, []byte{1}))
	require.False(t, outer.MayContain(filter, []byte{2}))
	require.Equal(t, Counters{ReadsAvoided: 1, MayContain: 1}, inner.Snapshot())
	require.Equal(t, inner.Snapshot(), outer.Snapshot())

	liar := Count(absentPolicy{inner})
	require.False(t, liar.MayContain(filter, []byte{1}))
	require.Equal(t, Counters{ReadsAvoided: 1}, liar.Snapshot())
}

// absentPolicy answers "absent" to all keys.
type absentPolicy struct{ Policy }

func (absentPolicy) MayContain(filter, key []byte) bool { return false }

func TestCountRefusesNil(t *testing.T) {
	require.PanicsWithValue(t, errUnusable, func() { Count(nil) })
	b, err := NewBloom(0)
	require.Error(t, err)
	require.Panics(t, func() { Count(b) })
}

func TestCountedAllocations(t *testing.T) {
	c := Count(policytest.Must(NewBloom(10)))
	filter := policytest.Must(NewBloom(10)).AppendFilter(nil, [][]byte{{1}})
	key := []byte{2}
	require.Zero(t, testing.AllocsPerRun(100, func() { c.MayContain(filter, key) }))
}

// BenchmarkCounted shows what counting costs: the two differ by it.
//
//	go test ./policy -bench Counted -cpu 1,2 -count 6
func BenchmarkCounted(b *testing.B) {
	bloom := policytest.Must(NewBloom(10))
	rng := policytest.Rand(b, 11)
	keys := policytest.Keys(rng, 1<<16)
	filter := bloom.AppendFilter(nil, keys[:10000])
	for _, p := range []struct {
		name   string
		policy Policy
	}{{"plain", bloom}, {"counted", Count(bloom)}} {
		b.Run(p.name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					p.policy.MayContain(filter, keys[i%len(keys)])
				}
			})
		})
	}
}
