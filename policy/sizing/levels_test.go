package sizing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// For the same memory, the levels' rates add up to less than with one setting, and no other
// distribution is better.
func TestAllocate(t *testing.T) {
	keys := []int{1000, 0, 10_000, 100_000, 1_000_000, 0}
	const total = 1_111_000
	sum := func(bits []float64) (sum, memory float64) {
		for level, n := range keys {
			if n > 0 {
				sum += math.Exp(-math.Ln2 * math.Ln2 * bits[level])
				memory += bits[level] * float64(n)
			}
		}
		return sum, memory
	}
	for _, each := range []float64{1, 3, 10, 20} {
		bits := allocate(keys, each*total, math.Ln2*math.Ln2)
		best, memory := sum(bits)
		require.LessOrEqual(t, memory, each*total)
		require.Greater(t, memory, (each-0.1)*total)
		same, _ := sum([]float64{each, 0, each, each, each, 0})
		require.Less(t, best, 0.8*same)
		require.Zero(t, bits[1]+bits[5])
		for from := range keys {
			for to := range keys {
				if keys[from] == 0 || keys[to] == 0 || bits[from] < 1 {
					continue
				}
				other := append([]float64{}, bits...)
				other[from]--
				other[to] += float64(keys[from]) / float64(keys[to])
				// With 1 bit, the largest level goes without: it would have less than leastBits.
				if worse, _ := sum(other); from != to && each > 1 {
					require.Greater(t, worse, 0.99*best, "%v bits: %v", each, other)
				}
			}
		}
	}
	// More than any filter needs.
	require.Equal(t, []float64{40, 40}, allocate([]int{1, 1000}, 1e9, math.Ln2))
}

func TestLevels(t *testing.T) {
	keys := []int{1000, 0, 0, 10_000, 100_000, 1_000_000, 0}
	levels, err := Levels("ribbon", keys, 8)
	require.NoError(t, err)
	require.Len(t, levels, 7)
	even := policytest.Must(policy.NewRibbon(8))
	var rate, evenRate float64
	var memory, evenMemory uint64
	for level, n := range keys {
		if n == 0 {
			require.Nil(t, levels[level])
			continue
		}
		p := levels[level].(Policy)
		rate += p.FPP(n)
		evenRate += even.FPP(n)
		memory += p.FilterSize(n)
		evenMemory += even.FilterSize(n)
	}
	require.LessOrEqual(t, memory, evenMemory)
	require.Less(t, rate, evenRate/2)

	_, err = Levels("cuckoo", keys, 10)
	require.ErrorContains(t, err, "write one of bloom, tuned, ribbon")
	_, err = Levels("bloom", keys, 0)
	require.ErrorContains(t, err, "bits per key: pass")
	_, err = Levels("bloom", []int{0, 0}, 10)
	require.ErrorContains(t, err, "no level has keys")
	_, err = Levels("bloom", []int{1, -1}, 10)
	require.ErrorContains(t, err, "level 1 has -1 keys")
	_, err = Levels("ribbon", keys, 50)
	require.ErrorContains(t, err, "40")
}
