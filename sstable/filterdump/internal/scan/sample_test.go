package scan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sample of all keys is the same however they are divided among samples that are then joined,
// in whatever order they come and however often, and each key is as likely in it as each other.
func TestSample(t *testing.T) {
	const n = 3 * SampleKeys
	rng := rand.New(rand.NewPCG(1, 1))
	t.Log("seed 1")
	var keys [][]byte
	for i := 0; len(keys) < n; i++ {
		if rng.Float64() < 0.5 {
			keys = append(keys, fmt.Appendf(nil, "%08d", i))
		}
	}
	whole := NewSample(All)
	for _, key := range keys {
		whole.Offer(key)
	}
	want := whole.Keys()
	require.Len(t, want, SampleKeys)
	require.True(t, slices.IsSortedFunc(want, bytes.Compare))
	require.Less(t, whole.Bound(), uint64(All))

	joined := NewSample(All)
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for part := range slices.Chunk(append(keys, keys[:n/2]...), n/7) {
		s := NewSample(joined.Bound())
		for _, key := range part {
			s.Offer(key)
		}
		for _, key := range s.Keys() {
			joined.Offer(key)
		}
	}
	require.Equal(t, want, joined.Keys())

	// A third of the keys below any bound: within five standard errors.
	slices.SortFunc(keys, bytes.Compare)
	for _, part := range []int{n / 5, n / 2, n * 9 / 10} {
		below, _ := slices.BinarySearchFunc(want, keys[part], bytes.Compare)
		require.InDelta(t, part/3, below, 5*math.Sqrt(float64(part)*2/9))
	}
}

// All of a few keys are in the sample, but no long ones, and no memory of the caller's.
func TestSampleOfFew(t *testing.T) {
	s := NewSample(All)
	key := []byte("b")
	s.Offer(key)
	key[0] = 'a'
	for _, more := range []string{"c", "c", "", strings.Repeat("k", maxSampled),
		strings.Repeat("k", maxSampled+1)} {
		s.Offer([]byte(more))
	}
	require.Equal(t, fmt.Sprintf("[ b c %s]", strings.Repeat("k", maxSampled)),
		fmt.Sprintf("%s", s.Keys()))
	require.Empty(t, NewSample(0).Keys())
}
