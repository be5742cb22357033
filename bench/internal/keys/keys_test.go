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
	for shape, want := range map[string]string{
		"decimal": "0000999999999999", "decimal15": "000999999999999",
		"user": "user0000999999999999", "bigendian": "\x00\x00\x00\xe8\xd4\xa5\x0f\xff",
		"littleendian": "\xff\x0f\xa5\xd4\xe8\x00\x00\x00",
	} {
		require.Equal(t, want, string(ShapesOf(shape)[0].Key(7, indexes-1)))
	}
	require.Len(t, random(7, 1234), 16)
}

// Different indexes give different random keys, at both ends of their range, and another seed
// gives others.
func TestRandomKeysDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range uint64(20_000) {
		for _, index := range []uint64{i, indexes - 1 - i, 20_000 + i*(indexes/50_000)} {
			seen[string(random(7, index))] = true
		}
	}
	require.Len(t, seen, 3*20_000)
	require.NotEqual(t, random(7, 5), random(8, 5))
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
			require.Equal(t, shape.Key(0, 0), all[0], "a counter's first")
			require.Equal(t, shape.Key(0, uint64(len(all)-1)), all[len(all)-1])
			require.True(t, slices.IsSortedFunc(first, bytes.Compare))
			require.False(t, slices.IsSortedFunc(absent, bytes.Compare))
		}

		s := shape.Set(1000, 5000)
		require.Equal(t, s.Sample(9), shape.Set(1000, 500).Sample(9))
		require.Len(t, s.Present, 1000)
		require.Equal(t, shape.Name == "random", len(s.Absent) == 5000, "more than lie between")
		sorted := slices.SortedFunc(slices.Values(slices.Concat(s.Present, s.Absent)), bytes.Compare)
		require.Len(t, slices.CompactFunc(sorted, bytes.Equal), 1000+len(s.Absent))
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
