package policy

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireDealt deals hashes, with memory that was used before, and compares with a map.
func requireDealt(t *testing.T, h *heaps, hashes []uint64, seed uint64, name string) {
	t.Helper()
	want := map[uint64]bool{}
	for _, hash := range hashes {
		want[fuseMix(hash, seed)] = true
	}
	keys := keyHashesOf(hashes)
	got := h.deal(keys, seed)
	require.Len(t, got, len(want), name)
	for _, x := range got {
		if !want[x] {
			require.Fail(t, "a hash is there twice, or was none", "%s: %x", name, x)
		}
		delete(want, x)
	}
	// Another attempt deals the same keys again.
	var kept []uint64
	for some := range keys.all {
		kept = append(kept, some...)
	}
	require.True(t, slices.Equal(hashes, kept), name)
	require.Len(t, h.deal(keys, seed+1), len(got), name)
}

// All numbers of hashes around those at which there are more heaps, with and without duplicates.
func TestDealRandomHashes(t *testing.T) {
	rng := seeded(t, 110)
	var h heaps
	counts := []int{1023, 1024, 1025, 2047, 2048, 2049, 3000, 4095, 4096, 20_000, 100_000, 300_000, 5, 0}
	for n := range 70 {
		counts = append(counts, n)
	}
	for _, n := range counts {
		hashes := randomHashes(rng, n)
		requireDealt(t, &h, hashes, rng.Uint64(), fmt.Sprintf("%d different ones", n))
		for _, copies := range []int{1, 2, 15, 16, 17, 40, n} { // in all
			if n == 0 || n > 5000 && copies == n {
				continue
			}
			some := slices.Clone(hashes)
			for range copies {
				some = append(some, hashes[rng.Intn(n)])
			}
			rng.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			requireDealt(t, &h, some, rng.Uint64(), fmt.Sprintf("%d different ones and %d copies", n, copies))
		}
		requireDealt(t, &h, slices.Repeat(hashes[:min(n, 1)], n), rng.Uint64(), fmt.Sprintf("%d equal ones", n))
	}
}

// Mixed hashes that somebody has chosen: all in one heap or in few, with one tag or with few, and some of them twice.
func TestDealHostileHashes(t *testing.T) {
	rng := seeded(t, 111)
	var h heaps
	for _, n := range []int{1, 2, 14, 15, 16, 17, 18, 40, 1_000, 3_000, 50_000} {
		for _, free := range []uint{4, 8, 17, 20, 30, 40, 50, 60, 64} { // bits that differ
			for _, high := range []bool{false, true} {
				for copies := range 3 {
					seed, same := rng.Uint64(), rng.Uint64()
					var mixed []uint64
					for range n {
						x := rng.Uint64() >> (64 - free)
						if high {
							x <<= 64 - free
						}
						mixed = append(mixed, same^x)
					}
					for range copies {
						mixed = append(mixed, mixed[rng.Intn(n)])
					}
					rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
					for i, x := range mixed {
						mixed[i] = unmix(x, seed)
					}
					requireDealt(t, &h, mixed, seed, fmt.Sprintf("%d hashes, %d bits differ, the high ones: %v, copies: %d", n, free, high, copies))
				}
			}
		}
	}
}

// As many hashes with one tag as may be looked for one by one, and a few more, with a copy of one of them in every place.
func TestDealCopies(t *testing.T) {
	rng := seeded(t, 112)
	var h heaps
	for n := 2; n <= 20; n++ {
		seed, same := rng.Uint64(), rng.Uint64()
		mixed := make([]uint64, n)
		for i := range mixed {
			mixed[i] = same ^ uint64(i)
		}
		for from := range n {
			for to := range n + 1 {
				var hashes []uint64
				for _, x := range slices.Insert(slices.Clone(mixed), to, mixed[from]) {
					hashes = append(hashes, unmix(x, seed))
				}
				requireDealt(t, &h, hashes, seed, fmt.Sprintf("number %d of %d again before number %d", from, n, to))
			}
		}
	}
}

// The first and the last number, which are mixed hashes as well as any.
func TestDealLimits(t *testing.T) {
	rng := seeded(t, 113)
	var h heaps
	for _, n := range []int{1, 2, 3, 2_000, 10_000} {
		seed := rng.Uint64()
		hashes := append(randomHashes(rng, n), unmix(0, seed), unmix(math.MaxUint64, seed), unmix(1, seed), unmix(0, seed), unmix(math.MaxUint64, seed))
		requireDealt(t, &h, hashes, seed, fmt.Sprintf("%d and the limits", n))
	}
}
