package bloom

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// byteOf must agree with % for every h; the edges are the multiples of the number of bits.
func TestModulus(t *testing.T) {
	rng := testkit.Rand(t, 2)
	sizes := []int{1, 2, 3, 5, 7, 8, 9, 64, 1251, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1<<28 - 1, 1 << 28,
		1<<29 - 1, 1 << 29, 1<<29 + 1, 1 << 30, math.MaxInt32, math.MaxInt}
	for range 5000 {
		sizes = append(sizes, 1+rng.Intn(1<<(1+rng.Intn(30))))
	}
	for _, size := range sizes {
		m := newModulus(size)
		nbits := 8 * uint64(size)
		check := func(h uint64) {
			if h < 1<<32 && h%nbits/8 != m.byteOf(uint32(h)) {
				require.Equal(t, h%nbits/8, m.byteOf(uint32(h)), "bit %d of %d bytes", h, size)
			}
		}
		largest := (1<<32 - 1) / nbits
		for _, multiple := range []uint64{0, 1, 2, largest / 2, largest,
			rng.Uint64() % (largest + 1)} {
			for step := range uint64(18) { // 8 on either side: a byte
				check(multiple*nbits + step)
				check(multiple*nbits - step)
			}
		}
		check(1<<32 - 1)
		check(uint64(rng.Uint32()))
	}
}

// A tuned size is at most 9 bytes larger than LevelDB's.
func TestSize(t *testing.T) {
	for n := range 2 * 2 * 3 * 5 * 17 { // the factors repeat after 510
		plain := Size(&builder.Setting{BitsPerKey: 8}, n)
		tuned := Size(&builder.Setting{BitsPerKey: 8, Tuned: true}, n)
		require.LessOrEqual(t, plain, tuned)
		require.LessOrEqual(t, tuned, plain+9)
	}
}
