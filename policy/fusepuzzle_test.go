package policy

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// solveFuse makes a filter of hashes, however few they are.
func solveFuse(t *testing.T, hashes []uint64, width int) []byte {
	w := new(fuseWorkshop)
	var seeds fuseSeeds
	for attempt := 1; attempt <= fuseAttempts; attempt++ {
		seed := seeds.next()
		mixed := w.deal(keyHashesOf(hashes), seed)
		g := fuseGeometryOf(len(mixed)).at(attempt, len(mixed))
		if cells, ok := w.solve(mixed, g); ok {
			return appendFuse(nil, cells, seed, g, width)
		}
	}
	require.Fail(t, "no filter", "%d hashes", len(hashes))
	return nil
}

// Filters of few keys, which builders do not make.
func TestFuseOfFewKeys(t *testing.T) {
	rng := seeded(t, 92)
	for n := 1; n <= 300; n += 1 + n/30 {
		keys := randomKeys(rng, 3*n)
		for i := range keys { // distinct
			keys[i] = append(keys[i], byte(i), byte(i>>8))
		}
		present := keys[:n]
		hashes := hashesOf(present)
		made := libraryFuse[uint16](slices.Clone(hashes))
		hashes = append(hashes, hashes[:rng.Intn(n)]...)
		for _, width := range []int{8, 12, 16} {
			filter := solveFuse(t, hashes, width)
			require.Equal(t, encodeFuse(made, width), filter, "%d keys", n)
			require.NotContains(t, requireSameAnswers(t, "few keys", filter, present), false)
			requireAnswers(t, unaligned(rng, filter), keys)
		}
	}
}

// hostile returns pairs of hashes that share all three cells in a filter of n keys: one for each of the first attempts to
// make it, so that these fail.
func hostile(rng *rand.Rand, n, failures int) (hashes []uint64) {
	var seeds fuseSeeds
	for attempt := 1; attempt <= failures; attempt++ {
		seed, cells := seeds.next(), fuseGeometryOf(n).at(attempt, n).places()
		for found := false; !found; {
			x := rng.Uint64()
			y := x ^ 1<<40 // a bit on which only the first cell depends, and hardly
			x0, x1, x2 := cells.of(x)
			y0, y1, y2 := cells.of(y)
			if x0 == y0 && x1 == y1 && x2 == y2 {
				hashes = append(hashes, unmix(x, seed), unmix(y, seed))
				found = true
			}
		}
	}
	return hashes
}

// Somebody who knows the seeds may choose keys for which the first ones are not right. The library, which tries more of
// them, says which is the first one that is; if it is not one of the writer's 64, the filter is blocked Bloom.
func TestFuseHostileHashes(t *testing.T) {
	rng := seeded(t, 98)
	made := map[int]int{} // attempts with which filters were made
	for _, bitsPerKey := range []float64{12, 19, 28} {
		p := mustFuse(t, bitsPerKey)
		for _, n := range []int{927, 2_000, 5_000} {
			for _, failures := range []int{0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 62, 63, 64} {
				hashes := hostile(rng, n, failures)
				hashes = append(hashes, randomHashes(rng, n-len(hashes))...)
				rng.Shuffle(n, func(i, j int) { hashes[i], hashes[j] = hashes[j], hashes[i] })
				filter := p.appendFilter([]byte("before"), keyHashesOf(hashes))[len("before"):]

				library := libraryFuse[uint16](slices.Clone(hashes))
				attempt := 1
				for seeds := fuseSeeds(0); seeds.next() != library.Seed; {
					attempt++
				}
				require.Greater(t, attempt, failures)
				made[attempt]++
				want := encodeFuse(library, p.width(n))
				if attempt > 64 {
					want = referenceBlockedOf(bitsPerKey, hashes)
				}
				require.True(t, bytes.Equal(want, filter), "%v bits per key, %d keys, attempt %d", bitsPerKey, n, attempt)
			}
		}
	}
	for _, attempt := range []int{1, 2, 3, 4, 5, 6, 7, 10, 63, 64, 65} {
		require.Positive(t, made[attempt], "filters made at attempt %d", attempt)
	}
}

// 63 keys may share a cell, and more may not.
func TestFuseCrowdedCells(t *testing.T) {
	rng := seeded(t, 99)
	const n = 2_000
	g := fuseGeometryOf(n)
	var seeds fuseSeeds
	first := seeds.next()
	for which := range 3 {
		for _, crowd := range []int{2, 10, 62, 63, 64, 65, 66, 127, 128, 129, 192, 256} {
			var hashes []uint64
			var cell uint64
			for len(hashes) < crowd {
				x := rng.Uint64()
				cells := [3]uint64{}
				cells[0], cells[1], cells[2] = g.places().of(x)
				if len(hashes) == 0 {
					cell = cells[which]
				}
				if cells[which] == cell {
					hashes = append(hashes, unmix(x, first))
				}
			}
			hashes = append(hashes, randomHashes(rng, n-crowd)...)
			filter := mustFuse(t, 12).appendFilter(nil, keyHashesOf(hashes))
			require.Equal(t, encodeFuse(libraryFuse[uint16](slices.Clone(hashes)), 8), filter, "%d keys in a cell", crowd)
			if crowd > 63 {
				require.NotEqual(t, first, binary.LittleEndian.Uint64(filter[len(filter)-fuseTrailer:]), "%d keys in a cell", crowd)
			}
		}
	}
}
