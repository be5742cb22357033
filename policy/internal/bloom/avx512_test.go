//go:build amd64 && !purego

package bloom

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

func requireAVX512(t *testing.T) {
	if !UseAVX512 {
		t.Skip("this processor has no AVX-512")
	}
}

// Single probes set by the assembly, in arrays of many sizes: hashes near multiples of
// the number of bits are the ones that a quotient off by one gets wrong.
func TestAVX512Modulus(t *testing.T) {
	requireAVX512(t)
	rng := policytest.Rand(t, 60)
	sizes := []int{1<<20 - 1, 1 << 20, 1<<20 + 1, 1<<24 - 1, 1<<24 + 1}
	for size := 1; size <= 1000; size++ {
		sizes = append(sizes, size)
	}
	for range 200 {
		sizes = append(sizes, 1+rng.Intn(1<<uint(rng.Intn(25))))
	}
	for _, size := range sizes {
		array := make([]byte, size)
		m := newModulus(size)
		bytes, reciprocal := m.avx512()
		nbits := uint64(size) * 8
		for range 20 {
			var hashes [lanes]uint32
			for i := range hashes {
				hashes[i] = rng.Uint32()
				if i%2 == 0 {
					hashes[i] = uint32(uint64(hashes[i])/nbits*nbits + uint64(rng.Intn(17)) - 8)
				}
			}
			hashes[rng.Intn(lanes)] = 1<<32 - 1
			avx512Set(&array[0], bytes, reciprocal, &hashes[0], 1, 1)
			for _, h := range hashes {
				p := uint64(h) % nbits
				require.NotZero(t, array[p/8]&(1<<(p%8)), "%d bytes, hash %#x", size, h)
			}
			for _, h := range hashes { // all others are 0
				p := uint64(h) % nbits
				array[p/8] &^= 1 << (p % 8)
			}
			if size < 1<<12 {
				require.Equal(t, make([]byte, size), array)
			}
		}
	}
}
