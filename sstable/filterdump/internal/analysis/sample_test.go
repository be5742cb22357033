package analysis

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each of the keys offered is in the sample as often as each other.
func TestSampleIsUniform(t *testing.T) {
	rng := seeded(t, 1)
	const offered, limit, times = 100, 10, 4000
	counts := make([]float64, offered)
	for range times {
		s := sample{rng: rng, limit: limit}
		for i := range offered {
			if place := s.offer(); place != nil {
				*place = []byte{byte(i)}
			}
		}
		require.Len(t, s.keys, limit)
		for _, key := range s.keys {
			counts[key[0]]++
		}
	}
	// Pearson's statistic has the mean of the degrees of freedom and twice their variance.
	const expected, freedom = times * limit / offered, offered - 1
	sum := 0.0
	for _, n := range counts {
		sum += (n - expected) * (n - expected) / expected
	}
	require.InDelta(t, freedom, sum, 6*math.Sqrt(2*freedom), "%v", counts)
}

// A giant gap gives few keys, from all over it.
func TestSampleOfGiantGap(t *testing.T) {
	s := sample{rng: seeded(t, 2), limit: 1000}
	s.offerBetween([]byte("a000000"), []byte("a899999"))
	require.Len(t, s.keys, maxPerGap)
	sum := 0.0
	for _, key := range s.keys {
		n, err := strconv.Atoi(string(key[1:]))
		require.NoError(t, err)
		sum += float64(n)
	}
	deviation := 900_000 / math.Sqrt(12*maxPerGap)
	require.InDelta(t, 450_000, sum/maxPerGap, 5*deviation)
}

// There are no absent keys between long ones, whose samples would take much memory.
func TestLongKeysAreNotSampled(t *testing.T) {
	for _, c := range []struct{ length, want int }{{maxAbsentLen, 1}, {maxAbsentLen + 1, 0}} {
		prefix := strings.Repeat("k", c.length-1)
		r := analyze(t, exactTable([]string{prefix + "1", prefix + "3"}), false)
		require.EqualValues(t, c.want, r.Between.Asked)
	}
}
