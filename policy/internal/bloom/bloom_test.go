package bloom

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// byteOf must agree with % for every h; the edges are the multiples of the number of bits.
func TestModulus(t *testing.T) {
	rng := policytest.Rand(t, 2)
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

// unaligned returns a copy of b that begins at the given place of other memory.
func unaligned(b []byte, start int) []byte {
	return append(make([]byte, start, 64+len(b)), b...)[start:]
}

// Keys of one length and of any are hashed together as they are alone.
func TestHashKeys(t *testing.T) {
	rng := policytest.Rand(t, 21)
	check := func(keys [][]byte) {
		hashes := make([]uint32, len(keys))
		for _, hash := range []func([]uint32, [][]byte){hashKeys, hashKeysPlain} {
			hash(hashes, keys)
			for i, key := range keys {
				require.Equal(t, Hash(key), hashes[i], "key %d of %d: %x", i, len(keys), key)
			}
		}
	}
	for length := range 201 {
		keys := make([][]byte, 4+rng.Intn(20))
		for i := range keys {
			key := make([]byte, length)
			rng.Read(key)
			keys[i] = unaligned(key, rng.Intn(17))
		}
		check(keys)
		odd := rng.Intn(4) // one of four differs in length
		keys[odd] = append(keys[odd][:length:length], 0xff)
		check(keys)
	}
	for n := range 300 {
		check(policytest.Keys(rng, n))
	}
}

// Both ways of testing say how many keys they found, by which ContainsMany chooses between them.
func TestFound(t *testing.T) {
	rng := policytest.Rand(t, 32)
	present := policytest.Keys(rng, hashGroup)
	filter := (&Setting{BitsPerKey: 10}).build(present)
	array, k := NewBits(filter), int(filter[len(filter)-1])
	for n := range hashGroup + 1 {
		keys := append(policytest.Keys(rng, hashGroup-n), present[:n]...)
		hashes, out := make([]uint32, len(keys)), make([]bool, len(keys))
		hashKeys(hashes, keys)
		want := falsePositives(filter, keys)
		require.GreaterOrEqual(t, want, n)
		require.Equal(t, want, array.testStaged(hashes, k, out))
		require.Equal(t, want, array.testEager(hashes, k, out))
	}
}
