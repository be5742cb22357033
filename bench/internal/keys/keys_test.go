package keys

import (
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
		keys := Sources([]string{c.shape}, []string{"63%"})[0].Shape.Keys([]uint64{5, c.index}, 7)
		require.Regexp(t, c.key, string(keys[1]))
		require.Equal(t, len(keys[0]), cap(keys[0]))
	}
	require.Len(t, Shapes[0].Append(nil, 7, 1234), 16)
}

// Different indexes give different keys, at both ends of what a shape has. Another seed gives
// others if and only if the shape is unordered.
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
		require.Equal(t, !s.unordered, same, s.Name)
	}
}

// Present indexes are as many as wanted, in a range of the density's part; absent ones are none of
// them, and lie in the range or after it.
func TestDensities(t *testing.T) {
	const start = 1_000_001
	for _, d := range append(Densities, anywhere) {
		for _, n := range []int{1, 8, 1000, 10_000} {
			for _, limit := range []int{5, n, 200_000} {
				present, absent := d.draw(3, start, n, limit, rand.New(rand.NewPCG(1, 2)))
				require.Len(t, present, n, d.Name)
				require.True(t, slices.IsSorted(present))
				// The range's length is n/part, give or take 6 standard deviations of a negative
				// binomial distribution.
				first, last := uint64(start), present[n-1]
				deviation := 6 * math.Sqrt(float64(n)*(1-d.part)) / d.part
				require.InDelta(t, float64(n)/d.part, float64(last-first+1), deviation+1, d.Name)
				all := int(last-first) + 1 - n
				if !d.Between() {
					first, last, all = last+1, last+uint64(limit), limit
				}
				require.Len(t, absent, min(all, limit))
				require.GreaterOrEqual(t, present[0], uint64(start))
				require.GreaterOrEqual(t, slices.Min(append(absent, last)), first)
				require.LessOrEqual(t, slices.Max(append(absent, first)), last)
				if n == 10_000 && d.Between() {
					require.Greater(t, slices.Max(absent), first+(last-first)/2, "from all over")
				}
				indices := append(present, absent...)
				slices.Sort(indices)
				require.Len(t, slices.Compact(indices), n+min(all, limit), d.Name)
			}
		}
	}
}

// Present and absent keys are all different, and a sample is of the present ones, in another
// order: what was stored first must not be looked up first.
func TestSet(t *testing.T) {
	var all []Source
	for _, s := range Shapes {
		all = append(all, Sources([]string{s.Name}, []string{"63%", "beyond"})...)
	}
	require.Len(t, all, 1+5*2, "random keys are anywhere")
	rng := rand.New(rand.NewPCG(1, 2))
	for _, source := range all {
		first, _ := source.Draw(rng, true, 9, 9)
		again, _ := source.Draw(rng, false, 9, 9)
		require.NotContains(t, again, first[0], "%v", source)
		require.NotContains(t, again, first[8], "%v", source)
		if !source.Shape.unordered && source.Density.Name == "beyond" {
			require.Equal(t, source.Shape.Append(nil, 0, 0), first[0], "a counter's first")
		}
	}
	for _, source := range all {
		s := source.Set(1000, 500)
		require.Equal(t, s.Sample(9), source.Set(1000, 500).Sample(9))
		require.Len(t, s.Present, 1000)
		require.NotEmpty(t, s.Between)
		different := map[string]bool{}
		for _, key := range slices.Concat(s.Present, s.Between) {
			different[string(key)] = true
		}
		require.Len(t, different, 1000+len(s.Between), "%v", source)
		require.Len(t, s.Sample(10), 10)
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
