package keys

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Present indexes are as many as wanted, in a range of the density's part; absent ones are none of
// them, and lie in the range or after it.
func TestDensities(t *testing.T) {
	const seed, start = 3, 1_000_001
	for _, d := range append(Densities, anywhere) {
		for _, n := range []int{1, 8, 1000, 10_000} {
			for _, limit := range []int{5, 700, n, 200_000} {
				present, absent := d.draw(seed, start, n, limit, rand.New(rand.NewPCG(1, 2)))
				require.Len(t, present, n, d.Name)
				require.True(t, slices.IsSorted(present))
				require.GreaterOrEqual(t, present[0], uint64(start))
				// The range's length is n/part, give or take 6 standard deviations of a negative
				// binomial distribution.
				first, last := uint64(start), present[n-1]
				deviation := 6 * math.Sqrt(float64(n)*(1-d.part)) / d.part
				require.InDelta(t, float64(n)/d.part, float64(last-first+1), deviation+1,
					"%s, %d keys", d.Name, n)
				all := int(last-first) + 1 - n
				if !d.Between() {
					first, last, all = last+1, last+uint64(limit), limit
				}
				require.Len(t, absent, min(all, limit))
				different := map[uint64]bool{}
				for _, i := range append(slices.Clone(present), absent...) {
					different[i] = true
				}
				require.Len(t, different, n+len(absent), "%s, %d keys, %d absent ones", d.Name, n,
					limit)
				for _, i := range absent {
					if i < first || i > last { // a require for each would take seconds
						require.Fail(t, "wrong absent index", "%s, %d keys: %d", d.Name, n, i)
					}
				}
			}
		}
	}
}

// Every second one is exactly that; a selection of absent ones comes from all over the range.
func TestAlternating(t *testing.T) {
	d := Densities[0]
	present, absent := d.draw(0, 10, 4, 3, rand.New(rand.NewPCG(1, 2)))
	require.Equal(t, []uint64{10, 12, 14, 16}, present)
	require.ElementsMatch(t, []uint64{11, 13, 15}, absent)

	_, absent = d.draw(0, 0, 50_000, 10_000, rand.New(rand.NewPCG(1, 2)))
	var tenths [10]int
	for _, i := range absent {
		tenths[i/10_000]++
	}
	for _, n := range tenths {
		require.InDelta(t, 1000, n, 5*math.Sqrt(900))
	}
}
