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

// Single probes set and tested by the assembly, in arrays of many sizes: hashes near multiples of
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
			var places [lanes]uint32
			asked := hashes
			require.Equal(t, lanes, avx512Test(&array[0], bytes, reciprocal, &asked[0], &places[0],
				lanes, 0, 1), "%d bytes", size)
			require.Equal(t, hashes, asked)
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

// Any number of hashes up to a group, any number of probes, from any one on; in order, with their
// places.
func TestAVX512KeepsWhatPasses(t *testing.T) {
	requireAVX512(t)
	rng := policytest.Rand(t, 61)
	for range 5000 {
		array := make([]byte, 1+rng.Intn(300))
		rng.Read(array)
		rng.Read(array[:rng.Intn(len(array))])
		for i := range array {
			array[i] |= byte(rng.Int())
			array[i] |= byte(rng.Int()) // three of four bits are set
		}
		m := newModulus(len(array))
		bytes, reciprocal := m.avx512()
		n, from := 1+rng.Intn(hashGroup), rng.Intn(MaxProbes)
		to := from + 1 + rng.Intn(MaxProbes-from)
		var hashes, places [hashGroup]uint32
		var wantHashes, wantPlaces []uint32
		for i := range hashes {
			hashes[i], places[i] = rng.Uint32(), rng.Uint32()
			passes := i < n
			for j := from; j < to; j++ {
				h := hashes[i] + uint32(j)*Delta(hashes[i])
				passes = passes && array[m.byteOf(h)]>>(h%8)&1 != 0
			}
			if passes {
				wantHashes = append(wantHashes, hashes[i])
				wantPlaces = append(wantPlaces, places[i])
			}
		}
		passed := avx512Test(&array[0], bytes, reciprocal, &hashes[0], &places[0], n, from, to)
		require.Equal(t, wantHashes, append([]uint32(nil), hashes[:passed]...),
			"%d hashes, probes %d to %d", n, from, to)
		require.Equal(t, wantPlaces, append([]uint32(nil), places[:passed]...))
	}
}

// Groups of one length and of any, with keys that are too long among them, whose hashes stay as
// they are.
func TestAVX512HashKeys(t *testing.T) {
	requireAVX512(t)
	rng := policytest.Rand(t, 62)
	for i := range 3000 {
		groups := 1 + rng.Intn(4)
		keys, hashes := make([][]byte, groups*lanes), make([]uint32, groups*lanes+1)
		wantAll := true
		for g := range groups {
			length, mixed := i%301, rng.Intn(2) == 0
			unlike := rng.Intn(2 * lanes) // of a group of one length, one key may have another
			anyLong := false
			for j := range lanes {
				l := length
				if mixed {
					l = rng.Intn(70)
				} else if j == unlike {
					l++
				}
				keys[g*lanes+j] = make([]byte, l)
				rng.Read(keys[g*lanes+j])
				keys[g*lanes+j] = unaligned(keys[g*lanes+j], rng.Intn(17))
				anyLong = anyLong || l > maxRow
			}
			same := !mixed && unlike >= lanes
			wantAll = wantAll && (same || !anyLong)
		}
		all := avx512HashKeys(&hashes[0], &keys[0], groups)
		for j, key := range keys {
			if hashes[j] != 0 || len(key) <= maxRow {
				require.Equal(t, Hash(key), hashes[j], "key %d: %x", j, key)
			} else {
				require.False(t, all)
			}
		}
		require.Zero(t, hashes[groups*lanes])
		if wantAll {
			require.True(t, all)
		}
	}
}

// avx512HashKeys has a frame of its own, for which a small stack is moved, and with it what its
// arguments point to.
func TestAVX512OnSmallStacks(t *testing.T) {
	requireAVX512(t)
	rng := policytest.Rand(t, 63)
	keys := policytest.Keys(rng, lanes)
	var want [lanes]uint32
	for i, key := range keys {
		want[i] = Hash(key)
	}
	for depth := range 200 {
		done := make(chan bool)
		go func() { done <- hashAtDepth(depth, keys) == want }()
		require.True(t, <-done, "depth %d", depth)
	}
}

//go:noinline
func hashAtDepth(depth int, keys [][]byte) [lanes]uint32 {
	if depth > 0 {
		return hashAtDepth(depth-1, keys)
	}
	var hashes [lanes]uint32
	var copies [lanes][]byte // on the stack too
	copy(copies[:], keys)
	avx512HashKeys(&hashes[0], &copies[0], 1)
	return hashes
}
