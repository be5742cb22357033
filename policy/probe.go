package policy

import "math/bits"

// maxProbes is the largest k. A filter whose last byte is larger is of an encoding that LevelDB reserved for later.
const maxProbes = 30

// bloomMayContain reads one filter of the LevelDB Bloom encoding.
func bloomMayContain(filter, key []byte) bool {
	if len(filter) < 2 {
		return false
	}
	array, k := filter[:len(filter)-1], filter[len(filter)-1]
	if k > maxProbes {
		return true
	}
	m := newModulus(len(array))
	h := Hash(key)
	delta := probeDelta(h)
	for range k {
		if array[m.reduce(h>>3)]&(1<<(h&7)) == 0 {
			return false
		}
		h += delta
	}
	return true
}

// setProbes sets the k bits of a key with hash h. m is the modulus of len(array).
func setProbes(array []byte, m modulus, h uint32, k int) {
	delta := probeDelta(h)
	for range k {
		array[m.reduce(h>>3)] |= 1 << (h & 7)
		h += delta
	}
}

// probeDelta returns the distance between two probes: the hash rotated right by 17 bits.
func probeDelta(h uint32) uint32 {
	return bits.RotateLeft32(h, -17)
}

// A modulus finds the byte of a probe without dividing.
//
// The array has a whole number of bytes, so bit h % (8*bytes) is bit h%8 of byte (h>>3) % bytes: dividing h = 8q + r by
// 8*bytes leaves 8*(q % bytes) + r. The remainder of the 29-bit number q is found with the reciprocal of `bytes`, by
// Lemire, Kaser and Kurz, "Faster Remainder by Direct Computation" (2019): with c = ceil(2^64/d), q % d is the high word
// of (c*q mod 2^64) * d, exactly, for all q < 2^29 and d <= 2^(64-29) = 2^35.
//
// A d of 2^29 or more leaves every q as it is, and so does 2^29 itself: larger arrays use that, which keeps d in range.
type modulus struct {
	d, reciprocal uint64
}

// newModulus returns the modulus of n bytes, n > 0.
func newModulus(n int) modulus {
	d := min(uint64(n), 1<<29)
	// (2^64-1)/d + 1 is ceil(2^64/d); for d = 1 it wraps to 0, and the remainder comes out as 0, as it should.
	return modulus{d, ^uint64(0)/d + 1}
}

// reduce returns q % d. REQUIRES: q < 2^29.
func (m modulus) reduce(q uint32) uint64 {
	hi, _ := bits.Mul64(m.reciprocal*uint64(q), m.d)
	return hi
}
