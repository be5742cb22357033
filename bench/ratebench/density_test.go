package ratebench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Present indexes are as many as wanted, in a range of the density's part; absent ones are none of them, and lie in the range
// or behind it.
func TestDensities(t *testing.T) {
	const seed, start = 3, 1_000_001
	for _, d := range append(Densities, anywhere) {
		for _, n := range []int{1, 8, 1000, 10_000} {
			r := keyRange{density: d, seed: seed, start: start, n: n}
			present := slices.Collect(r.present())
			require.Len(t, present, n, d.Name)
			require.GreaterOrEqual(t, present[0], uint64(start))
			require.Equal(t, r.end-1, present[n-1])
			require.LessOrEqual(t, r.end-start, d.reach(n, 0))
			// The range's length is n/part, give or take 6 standard deviations of a negative binomial distribution.
			deviation := 6 * math.Sqrt(float64(n)*(1-d.part)) / d.part
			require.InDelta(t, float64(n)/d.part, float64(r.end-start), deviation+1, "%s, %d keys", d.Name, n)
			isPresent := map[uint64]bool{}
			for _, i := range present {
				isPresent[i] = true
			}
			require.Len(t, isPresent, n, "all are different")

			all := int(r.end-start) - n
			for _, limit := range []int{5, 700, all - 1, 1 << 30} {
				if limit < 1 || d.part == 1 && limit == 1<<30 {
					continue // they do not end
				}
				absent := slices.Collect(r.absent(limit, rand.New(rand.NewPCG(1, 2))))
				switch {
				case d.part == 1:
					require.Len(t, absent, limit)
				default:
					require.Len(t, absent, min(all, limit))
				}
				first, last := r.start, r.end
				if d.part == 1 {
					first, last = r.end, r.end+uint64(limit)
				}
				for _, i := range absent {
					if isPresent[i] || i < first || i >= last { // a require for each would take seconds
						require.Fail(t, "wrong absent index", "%s, %d keys: %d", d.Name, n, i)
					}
				}
				slices.Sort(absent)
				require.Len(t, slices.Compact(absent), len(absent), "%s, %d keys, %d absent ones: none comes twice", d.Name, n, limit)
			}
		}
	}
}

// Every second one is exactly that; a selection of absent ones comes from all over the range.
func TestAlternating(t *testing.T) {
	r := keyRange{density: densityNamed(t, "alternating"), start: 10, n: 4}
	require.Equal(t, []uint64{10, 12, 14, 16}, slices.Collect(r.present()))
	require.Equal(t, []uint64{11, 13, 15}, slices.Collect(r.absent(3, nil)))

	r = keyRange{density: densityNamed(t, "alternating"), n: 50_000}
	require.Len(t, slices.Collect(r.present()), 50_000)
	var tenths [10]int
	for i := range r.absent(10_000, rand.New(rand.NewPCG(1, 2))) {
		tenths[i*10/r.end]++
	}
	for _, n := range tenths {
		require.InDelta(t, 1000, n, 5*math.Sqrt(900))
	}
}

func TestOtherSeedOtherKeys(t *testing.T) {
	d := densityNamed(t, "63%")
	one, two := keyRange{density: d, seed: 1, n: 100}, keyRange{density: d, seed: 2, n: 100}
	require.NotEqual(t, slices.Collect(one.present()), slices.Collect(two.present()))
}

// Who stops early gets no more.
func TestEarlyStop(t *testing.T) {
	for _, d := range Densities {
		r := keyRange{density: d, seed: 1, n: 100}
		for range r.present() {
			break
		}
		require.Len(t, slices.Collect(r.present()), 100)
		for _, limit := range []int{3, 100_000} {
			for range r.absent(limit, rand.New(rand.NewPCG(1, 2))) {
				break
			}
		}
	}
}
