package policy

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Geometries that no writer chooses among them, with seeds and contents at random.
func TestFuseReadersAgainstReference(t *testing.T) {
	rng := seeded(t, 95)
	yes := 0
	for _, width := range []byte{8, 12, 16} {
		for e := byte(2); e <= 18; e++ {
			for range 6 {
				segments := 1 + uint32(rng.Intn(max(1, 1<<13>>e)))
				trailer := fuseTrailerOf(rng.Uint64(), segments, e, width)
				filter := append(make([]byte, (int(segments)+2)<<e*int(width)/8), trailer...)
				keys := append(randomKeys(rng, 2*hashGroup), make([]byte, rng.Intn(301)))
				fillFuse(rng, filter, keys[:rng.Intn(hashGroup)])
				requireAnswers(t, unaligned(rng, filter), keys)
				for _, key := range keys {
					if MayContain(filter, key) {
						yes++
					}
				}
			}
		}
	}
	require.Greater(t, yes, 3*17*6*10)
}

// A key is found with the right contents of its three cells, and lost if any bit of them is another. Other bits do not
// matter.
func TestFuseEveryBitCounts(t *testing.T) {
	rng := seeded(t, 96)
	for _, width := range []byte{8, 12, 16} {
		for _, g := range []fuseGeometry{{1, 2}, {2, 2}, {7, 3}, {1, 5}, {100, 4}} {
			for range 20 {
				key := make([]byte, rng.Intn(301))
				rng.Read(key)
				keys := slices.Repeat([][]byte{key}, fewKeys) // one group
				filter := append(make([]byte, g.cells()*uint64(width)/8), fuseTrailerOf(rng.Uint64(), g.segments, g.log, width)...)
				fillFuse(rng, filter, keys[:1])
				n := len(filter) - fuseTrailer
				c0, c1, c2 := g.places().of(fuseMix(keyHash(key), binary.LittleEndian.Uint64(filter[n:])))
				ask := func(want bool) {
					for _, answer := range requireSameAnswers(t, "every bit", filter, keys) {
						require.Equal(t, want, answer, "key %x, %d bits per cell, %v", key, width, g)
					}
				}
				ask(true)
				step := 1 + rng.Intn(1+n/20)
				for p := rng.Intn(step); p < 8*n; p += step {
					cell := uint64(p) / uint64(width)
					filter[p/8] ^= 1 << (p % 8)
					if want := cell != c0 && cell != c1 && cell != c2; MayContain(filter, key) != want {
						ask(want)
					}
					filter[p/8] ^= 1 << (p % 8)
				}
				for _, c := range []uint64{c0, c1, c2} {
					for j := range uint64(width) {
						p := c*uint64(width) + j
						filter[p/8] ^= 1 << (p % 8)
						ask(false)
						filter[p/8] ^= 1 << (p % 8)
					}
				}
			}
		}
	}
}

// Everything that can be wrong with a trailer, and with the length of the cells.
func TestFuseMalformed(t *testing.T) {
	rng := seeded(t, 97)
	keys := randomKeys(rng, fewKeys+5)
	requireAll := func(filter []byte) {
		require.NotContains(t, requireSameAnswers(t, fmt.Sprintf("% x", filter[max(0, len(filter)-16):]), filter, keys), false)
	}
	for length := 2; length <= 40; length++ {
		for range 50 {
			filter := make([]byte, length)
			rng.Read(filter)
			filter[length-1] = 0x46
			requireAnswers(t, filter, keys)
			if length < 16+12 { // no room for three segments of four cells
				requireAll(filter)
			}
		}
	}
	for _, width := range []byte{8, 12, 16} {
		good := append(make([]byte, 7*8*int(width)/8), fuseTrailerOf(rng.Uint64(), 5, 3, width)...)
		fillFuse(rng, good, keys[:3])
		requireAnswers(t, good, keys)
		require.Contains(t, requireSameAnswers(t, "good", good, keys), false)
		n := len(good) - fuseTrailer
		for i := range fuseTrailer {
			for value := range 256 {
				filter := slices.Clone(good)
				filter[n+i] = byte(value)
				requireAnswers(t, filter, keys)
				if i >= 8 && i < 15 && filter[n+i] != good[n+i] { // segments to version
					requireAll(filter)
				}
			}
		}
		for cut := range good {
			requireAnswers(t, good[:cut], keys)
			requireAnswers(t, good[cut:], keys)
			if cut > 0 && len(good)-cut >= 2 {
				requireAll(good[cut:])
			}
		}
		requireAll(append([]byte{0}, good...))

		// Numbers of cells and of bits that are the right ones to anybody who forgets what is above 32 bits.
		for e := byte(2); e <= 18; e++ {
			for payload := range 64 {
				for _, above := range []uint64{1 << 32, 1 << 35, 1 << 38} { // cells, bits, bits of many cells
					segments := (above+uint64(payload)*8/uint64(width))>>e - 2
					if segments <= math.MaxUint32 {
						requireAll(append(make([]byte, payload), fuseTrailerOf(0, uint32(segments), e, width)...))
					}
				}
			}
		}
	}

	// Lengths that would fit, but for the number of bits per cell, or of cells per segment, or of segments.
	for width := range 256 {
		if width != 8 && width != 12 && width != 16 {
			requireAll(append(make([]byte, 3*8*width/8), fuseTrailerOf(0, 1, 3, byte(width))...))
		}
	}
	for _, width := range []byte{8, 12, 16} {
		for _, e := range []byte{0, 1, 19, 20} {
			requireAll(append(make([]byte, 4<<e*int(width)/8), fuseTrailerOf(0, 2, e, width)...))
		}
		for e := byte(2); e <= 18; e++ {
			requireAll(append(make([]byte, 2<<e*int(width)/8), fuseTrailerOf(0, 0, e, width)...))
		}
	}
}
