package keys

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Present indexes are as many as wanted, in a range of the density's part; absent ones are none of
// them, and lie in the range or behind it.
func TestDensities(t *testing.T) {
	const seed, start = 3, 1_000_001
	for _, d := range append(Densities, Anywhere) {
		for _, n := range []int{1, 8, 1000, 10_000} {
			r := Range{Density: d, Seed: seed, Start: start, N: n}
			present := slices.Collect(r.Present())
			require.Len(t, present, n, d.Name)
			require.GreaterOrEqual(t, present[0], uint64(start))
			require.Equal(t, r.End-1, present[n-1])
			// The range's length is n/part, give or take 6 standard deviations of a negative
			// binomial distribution.
			deviation := 6 * math.Sqrt(float64(n)*(1-d.part)) / d.part
			require.InDelta(t, float64(n)/d.part, float64(r.End-start), deviation+1, "%s, %d keys",
				d.Name, n)
			isPresent := map[uint64]bool{}
			for _, i := range present {
				isPresent[i] = true
			}
			require.Len(t, isPresent, n, "all are different")

			all := int(r.End-start) - n
			for _, limit := range []int{5, 700, all - 1, 1 << 30} {
				if limit < 1 || d.part == 1 && limit == 1<<30 {
					continue // they do not end
				}
				absent := slices.Collect(r.Absent(limit, rand.New(rand.NewPCG(1, 2))))
				switch {
				case d.part == 1:
					require.Len(t, absent, limit)
				default:
					require.Len(t, absent, min(all, limit))
				}
				first, last := r.Start, r.End
				if d.part == 1 {
					first, last = r.End, r.End+uint64(limit)
				}
				for _, i := range absent {
					if isPresent[i] || i < first ||
						i >= last { // a require for each would take seconds
						require.Fail(t, "wrong absent index", "%s, %d keys: %d", d.Name, n, i)
					}
				}
				slices.Sort(absent)
				require.Len(t, slices.Compact(absent), len(absent), "%s, %d keys, %d absent "+
					"ones: none comes twice", d.Name, n, limit)
			}
		}
	}
}

// Every second one is exactly that; a selection of absent ones comes from all over the range.
func TestAlternating(t *testing.T) {
	r := Range{Density: densityNamed(t, "alternating"), Start: 10, N: 4}
	require.Equal(t, []uint64{10, 12, 14, 16}, slices.Collect(r.Present()))
	require.Equal(t, []uint64{11, 13, 15}, slices.Collect(r.Absent(3, nil)))

	r = Range{Density: densityNamed(t, "alternating"), N: 50_000}
	require.Len(t, slices.Collect(r.Present()), 50_000)
	var tenths [10]int
	for i := range r.Absent(10_000, rand.New(rand.NewPCG(1, 2))) {
		tenths[i*10/r.End]++
	}
	for _, n := range tenths {
		require.InDelta(t, 1000, n, 5*math.Sqrt(900))
	}
}

func TestOtherSeedOtherKeys(t *testing.T) {
	d := densityNamed(t, "63%")
	one, two := Range{Density: d, Seed: 1, N: 100}, Range{Density: d, Seed: 2, N: 100}
	require.NotEqual(t, slices.Collect(one.Present()), slices.Collect(two.Present()))
}

// Who stops early gets no more.
func TestEarlyStop(t *testing.T) {
	for _, d := range Densities {
		r := Range{Density: d, Seed: 1, N: 100}
		for range r.Present() {
			break
		}
		require.Len(t, slices.Collect(r.Present()), 100)
		for _, limit := range []int{3, 100_000} {
			for range r.Absent(limit, rand.New(rand.NewPCG(1, 2))) {
				break
			}
		}
	}
}
