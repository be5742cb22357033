package ribbon

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// These tests check what doc.go and comments claim: the code, and with -large the figures.

// doc.go quotes refSolve.
func TestEssay(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	reference := read("reference_test.go")
	_, body, _ := strings.Cut(reference, "ok bool) {\n\tpivots")
	body, _, _ = strings.Cut("\tpivots"+body, "\n}\n")
	require.Contains(t, read("doc.go"), "//"+strings.ReplaceAll(body, "\n", "\n//"))
}

// A solution of 700 keys takes 1.5 eliminations on average.
func TestEliminations(t *testing.T) {
	testkit.Large(t)
	rng := testkit.Rand(t, 8)
	s, eliminations := new(solver), 0.0
	const systems = 1000
	for range systems {
		seed, ok := s.solve(700, randomHashes(rng, 700))
		if !ok { // rare
			seed = solverSeeds - 1
		}
		eliminations += float64(seed/variants+1) / systems
	}
	require.InDelta(t, 1.47, eliminations, 0.12)
}

// What padding and variants are worth: the share of systems of 700 keys and 700 slots that one
// elimination solves, with any variant.
func TestWorth(t *testing.T) {
	testkit.Large(t)
	rng := testkit.Rand(t, 9)
	const systems = 10_000
	for _, c := range []struct {
		padding, variants int
		want              float64
	}{
		{padding, variants, 0.67}, {2, variants, 0.60}, {4, variants, 0.64}, {padding, 1, 0.216},
		{0, 1, 0.0174},
	} {
		solved := 0.0
		for range systems {
			if solvable(rng, 700, c.padding, c.variants) {
				solved++
			}
		}
		t.Logf("%+v: %v", c, solved/systems)
		require.InDelta(t, c.want, solved/systems, 4*math.Sqrt(c.want*(1-c.want)/systems), "%+v", c)
	}
}

// solvable reports whether n random equations for n slots are independent with some variant.
func solvable(rng *rand.Rand, n, padding, variants int) bool {
	last := (n - spanSlots + 7) / 8
	starts, coeffs, varying := make([]int, n), make([]uint64, n), make([]uint64, n)
	for i := range n {
		drawn := rng.Intn(last+1+2*padding) - padding
		starts[i] = min(max(drawn, 0), last)
		coeffs[i] = rng.Uint64() >> beyond(uint(starts[i]), uint(n))
		if drawn < 0 {
			varying[i] = rng.Uint64()
		}
	}
	for variant := range variants {
		pivots, independent := make([]uint64, n), 0 // as in refSolve
		for i, c := range coeffs {
			c ^= varying[i] >> variant % (1 << variantSlots)
			for slot := 8*starts[i] + 63; c != 0; {
				zeros := bits.LeadingZeros64(c)
				slot, c = slot-zeros, c<<zeros
				if pivots[slot] == 0 {
					pivots[slot] = c
					independent++
					break
				}
				c ^= pivots[slot]
			}
		}
		if independent == n {
			return true
		}
	}
	return false
}

// Of small filters of random keys, fewer than 1 in 10,000 have no solution.
func TestNoSolution(t *testing.T) {
	testkit.Large(t)
	rng := testkit.Rand(t, 13)
	s, without := new(solver), 0
	for range 6000 {
		for n := 1; n <= 10; n++ {
			if _, ok := s.solve(max(minSlots, n), randomHashes(rng, n)); !ok {
				without++
			}
		}
	}
	require.LessOrEqual(t, without, 6) // 0.5 on average
}

// noSolution returns hashes that leave no shard of a large filter a solution. Hashes that differ
// only in their top 8 bits, 250 at a time here, are of one shard, and their coefficients, too,
// differ only there. With every multiplier some 16 of them have the last start: more than those 8
// bits and what they share allow, so their equations depend on each other.
func noSolution(n int) []uint64 {
	shards := uint64(shardsFor(n))
	hashes := make([]uint64, n)
	for i := range hashes {
		shard, i := uint64(i)%shards, uint64(i)/shards
		middle := (shard + i/250*shards) * 0x9e3779b97f4a7c15 >> 40 << 32
		hashes[shard+i*shards] = i%250<<56 | middle | (2*shard+1)<<31/shards
	}
	return hashes
}

// How many times as long builds of chosen hashes take as builds of random ones, as a median.
func BenchmarkAttack(b *testing.B) {
	for _, n := range []int{100, 500, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var dst []byte
			build := func(hashes []uint64) float64 {
				start := time.Now()
				for range 1 + 100_000/n {
					dst = encode(dst[:0], hashes, 10)
				}
				return time.Since(start).Seconds()
			}
			random, chosen := randomHashes(rand.New(rand.NewSource(14)), n), noSolution(n)
			var ratios []float64
			for range max(5, b.N) {
				ratios = append(ratios, build(chosen)/build(random))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times")
			b.ReportMetric(0, "ns/op")
		})
	}
}
