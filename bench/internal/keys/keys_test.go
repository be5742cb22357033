package keys

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape string
		index uint64
		key   string // a pattern
	}{
		{"decimal", 0, "^0000000000000000$"},
		{"decimal", 999_999_999_999, "^0000999999999999$"},
		{"user", 1234, "^user0000000000001234$"},
		{"decimal15", 1234, "^000000000001234$"},
		{"bigendian", 0x010203, "^\x00\x00\x00\x00\x00\x01\x02\x03$"},
		{"littleendian", 0x010203, "^\x03\x02\x01\x00\x00\x00\x00\x00$"},
	} {
		keys := ShapesOf(c.shape)[0].Keys([]uint64{5, c.index}, 7)
		require.Regexp(t, c.key, string(keys[1]))
		require.Equal(t, len(keys[0]), cap(keys[0]))
	}
	require.Len(t, Shapes[0].Append(nil, 7, 1234), 16)
}

// Different indexes give different keys, at both ends of what a shape has. Another seed gives
// others if and only if the shape is random.
func TestKeysDiffer(t *testing.T) {
	var indices []uint64
	for i := range uint64(20_000) {
		indices = append(indices, i, indexes-1-i, 20_000+i*(indexes/50_000))
	}
	for _, s := range Shapes {
		seen := map[string]bool{}
		for _, key := range s.Keys(indices, 7) {
			seen[string(key)] = true
		}
		require.Len(t, seen, len(indices), s.Name)
		same := string(s.Append(nil, 7, 5)) == string(s.Append(nil, 8, 5))
		require.Equal(t, s.Name != "random", same, s.Name)
	}
}

// Present and absent keys are all different, and a sample is of the present ones, in another order:
// what was stored first must not be looked up first. In a range, as many are present as wanted,
// 63 % of it, and the absent ones lie between; the first range begins at 0.
func TestSets(t *testing.T) {
	const n = 10_000
	for _, shape := range Shapes {
		rng := rand.New(rand.NewPCG(1, 2))
		first, absent := shape.Draw(rng, true, n, 2*n)
		again, few := shape.Draw(rng, false, n, 5)
		different := map[string]bool{}
		for _, key := range slices.Concat(first, again, absent) {
			different[string(key)] = true
		}
		require.Len(t, different, 2*n+len(absent), shape.Name)
		require.Len(t, few, 5)
		// give or take 6 standard deviations of a negative binomial distribution
		require.InDelta(t, n/0.63, n+len(absent), 6*math.Sqrt(n*0.37)/0.63)
		if shape.Name == "decimal" {
			all := slices.SortedFunc(slices.Values(slices.Concat(first, absent)), bytes.Compare)
			require.Equal(t, shape.Append(nil, 0, 0), all[0], "a counter's first")
			require.Equal(t, shape.Append(nil, 0, uint64(len(all)-1)), all[len(all)-1])
			require.True(t, slices.IsSortedFunc(first, bytes.Compare))
			require.False(t, slices.IsSortedFunc(absent, bytes.Compare))
		}

		s := shape.Set(1000, 500)
		require.Equal(t, s.Sample(9), shape.Set(1000, 500).Sample(9))
		require.Len(t, s.Present, 1000)
		require.Len(t, s.Absent, 500)
		sample, same := s.Sample(2000), 0
		for i, key := range sample {
			if string(key) == string(s.Present[i]) {
				same++
			}
		}
		require.Less(t, same, 20)
		require.ElementsMatch(t, s.Present, sample)
	}
}
