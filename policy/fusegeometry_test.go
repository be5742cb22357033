package policy

import (
	"math"
	"math/big"
	"runtime"
	"testing"

	"github.com/FastFilter/xorfilter"
	"github.com/stretchr/testify/require"
)

// A case of the vectors: what the text says about a number of keys, computed with exact numbers.
func requireFuseSize(t *testing.T, c encodingCase) {
	g := fuseGeometryOf(int(c.N))
	require.Equal(t, fuseGeometry{c.Segments, c.E}, g, c.Name)
	require.Equal(t, int(c.Width), mustFuse(t, c.BitsPerKey).width(int(c.N)), c.Name)
}

// libraryGeometry is how the library chooses, with floating point: calculateSegmentLength, calculateSizeFactor and
// initializeParameters of its binaryfusefilter.go.
func libraryGeometry(n int) (segmentLength, segments, cells uint64) {
	segmentLength = 4
	if n > 0 {
		segmentLength = min(uint64(1)<<int(math.Floor(math.Log(float64(n))/math.Log(3.33)+2.25)), 262144)
	}
	capacity := uint64(0)
	if n > 1 {
		capacity = uint64(math.Round(float64(n) * math.Max(1.125, 0.875+0.25*math.Log(1000000)/math.Log(float64(n)))))
	}
	all := max(3, (capacity+segmentLength-1)/segmentLength)
	return segmentLength, all - 2, all * segmentLength
}

func TestFuseGeometryIsTheLibrarys(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("elsewhere floating point may give other numbers, and ours are the same everywhere")
	}
	check := func(n int) {
		g := fuseGeometryOf(n)
		segmentLength, segments, cells := libraryGeometry(n)
		if uint64(1)<<g.log != segmentLength || uint64(g.segments) != segments || g.cells() != cells || !g.valid() {
			require.Fail(t, "not the library's", "%d keys: 2^%d, %d and %d, not %d, %d and %d", n, g.log, g.segments, g.cells(), segmentLength, segments, cells)
		}
	}
	for n := range 2_000_001 {
		check(n)
	}
	rng := seeded(t, 80)
	for n := 2_000_000; n < fuseMaxKeys; n += 1 + rng.Intn(n/10_000) {
		check(n)
	}
	for _, from := range append(fuseSegmentFrom[:], fuseMaxKeys) {
		for n := from - 2; n <= from+2; n++ {
			check(n)
		}
	}
}

// The library itself. It takes memory for its cells, so it is asked for some n only.
func TestFuseGeometryByTheLibrary(t *testing.T) {
	rng := seeded(t, 81)
	var library xorfilter.BinaryFuseBuilder
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 10, 27, 28, 100, 303, 304, 1009, 1010, 3361, 3362, 5240, 11192, 11193, 37272, 37273, 50_000, 124_117, 124_118, 413_309, 413_310} {
		filter, err := xorfilter.BuildBinaryFuse[uint8](&library, randomHashes(rng, n))
		require.NoError(t, err)
		g := fuseGeometryOf(n)
		require.Equal(t, g.cells(), uint64(len(filter.Fingerprints)), "%d keys", n)
		if filter.SegmentLength != 1<<g.log { // after an odd number of failures
			g = g.at(2, n)
		}
		require.Equal(t, fuseGeometry{filter.SegmentCount, g.log}, g, "%d keys", n)
		require.Equal(t, filter.SegmentLength, uint32(1)<<g.log, "%d keys", n)
	}
}

// fuseSegmentFrom by its definition, to the fourth power of which whole numbers are enough.
func TestFuseSegmentFrom(t *testing.T) {
	power := func(x, y int) *big.Int { return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(y)), nil) }
	for i, from := range fuseSegmentFrom {
		exponent := 4*i + 3 // 3.33^(i+0.75) <= n is 333^(4i+3) <= n^4 * 100^(4i+3)
		reaches := func(n int) bool {
			right := power(n, 4)
			return power(333, exponent).Cmp(right.Mul(right, power(100, exponent))) <= 0
		}
		require.True(t, reaches(from), "%d", from)
		require.False(t, reaches(from-1), "%d", from)
		require.Equal(t, uint8(i+3), fuseGeometryOf(from).log)
		require.Equal(t, uint8(i+2), fuseGeometryOf(from-1).log)
	}
	require.Equal(t, uint8(18), fuseGeometryOf(fuseMaxKeys).log, "the most that the fields of 18 bits can say")
}

func TestLog2(t *testing.T) {
	rng := seeded(t, 82)
	for power := range 64 {
		require.Equal(t, uint64(power)<<32, log2(1<<power))
	}
	for range 100_000 {
		n := 1 + uint64(rng.Int63n(1<<(1+rng.Intn(50))))
		lost := math.Log2(float64(n)) - float64(log2(n))/(1<<32)
		if lost < -1e-12 || lost > 1.0/(1<<30) {
			require.Fail(t, "inexact", "log2(%d) loses %v", n, lost)
		}
	}
}

// Every fourth attempt has segments of half the length and as many cells.
func TestFuseGeometryOfAttempts(t *testing.T) {
	for _, n := range []int{0, 1, 4, 5, 900, 1_000, 20_000, 999_999, 1_000_000, 5_000_000} {
		g := fuseGeometryOf(n)
		for attempt := 1; attempt <= fuseAttempts; attempt++ {
			got := g.at(attempt, n)
			if n < 5 || n >= 1_000_000 || attempt%4 != 2 {
				require.Equal(t, g, got, "%d keys, attempt %d", n, attempt)
				continue
			}
			require.Equal(t, fuseGeometry{2*g.segments + 2, g.log - 1}, got, "%d keys, attempt %d", n, attempt)
			require.Equal(t, g.cells(), got.cells())
		}
	}
}

func TestFuseGeometryValid(t *testing.T) {
	for log := range 256 {
		for _, segments := range []uint32{0, 1, 2, 1 << 31, math.MaxUint32} {
			require.Equal(t, log >= 2 && log <= 18 && segments > 0, fuseGeometry{segments, uint8(log)}.valid(), "%d segments of 2^%d", segments, log)
		}
	}
}

// The cells by the text's formulas in big numbers, and that they are cells, in three segments that follow each other.
func TestFuseCellsOf(t *testing.T) {
	rng := seeded(t, 83)
	for _, segments := range []uint32{1, 2, 3, 77, 1 << 16, 1<<31 - 1, math.MaxUint32} {
		for log := uint8(2); log <= 18; log++ {
			g := fuseGeometry{segments, log}
			size := uint64(1) << log
			require.Equal(t, (uint64(segments)+2)*size, g.cells())
			for i := range 100 {
				x := rng.Uint64()
				switch i {
				case 0:
					x = 0
				case 1:
					x = math.MaxUint64
				}
				product := new(big.Int).SetUint64(x)
				product.Mul(product, new(big.Int).SetUint64(uint64(segments)*size))
				want0 := product.Rsh(product, 64).Uint64()
				c0, c1, c2 := g.places().of(x)
				require.Equal(t, []uint64{want0, (want0 + size) ^ (x / (1 << 18) % size), (want0 + 2*size) ^ (x % size)}, []uint64{c0, c1, c2})
				require.Equal(t, []uint64{c0/size + 1, c0/size + 2}, []uint64{c1 / size, c2 / size})
				require.Less(t, c2, g.cells())
			}
		}
	}
}
