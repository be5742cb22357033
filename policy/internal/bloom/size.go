package bloom

import (
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// K returns the number of probes per key. 0.69 is nearly ln 2, the optimum; LevelDB rounds down to
// save probes. 0 bits per key are defined too: 64 bits and k = 1 for any number of keys.
func K(s *builder.Setting) int { return int(min(max(s.BitsPerKey*0.69, 1), MaxProbes)) }

// Size returns the size in bytes of a filter of n keys. It panics if n is negative.
func Size(s *builder.Setting, n int) uint64 {
	array := max(8, bytesOf(n, s.BitsPerKey))
	for s.Tuned && !spreads(array) { // at most 9 times (TestSize)
		array++
	}
	return array + 1
}

// AppendZeros appends a filter of n keys to dst, but without the bits of the keys. It returns the
// extended slice and the filter in it. It panics, as make does, if the size exceeds the largest
// int: on a 32-bit platform, with a filter larger than the memory there.
func AppendZeros(dst []byte, s *builder.Setting, n int) (extended, filter []byte) {
	size := Size(s, n)
	if size > math.MaxInt {
		panic(fmt.Sprintf("policy: a filter of %d bytes exceeds the memory of this platform", size))
	}
	extended = slices.Grow(dst, int(size))[:len(dst)+int(size)]
	filter = extended[len(dst):]
	clear(filter) // Grow leaves the spare capacity as it was
	filter[size-1] = byte(K(s))
	return extended, filter
}

// spreads reports whether few probes of similar keys coincide in an array of this many bytes.
//
// Neighbors among dense numbers differ in their last characters, the high bytes of the last word
// that the hash takes. Then only the top bits of the product differ, x of them, and through
// h ^ h>>16 and delta, probes j of two neighbors lie about x*65537*(2+j)/2 apart. Each factor of 2
// in the number of bytes hides one bit of x: arrays of 2^n bytes are the worst. Modulo a divisor of
// 255 = 3 * 5 * 17, where 256 equals 1, all bytes of a hash count alike, and a difference in one
// cancels a difference in another.
func spreads(bytes uint64) bool {
	return bytes%2 != 0 && bytes%3 != 0 && bytes%5 != 0 && bytes%17 != 0
}

// bytesOf returns how many bytes n * bitsPerKey bits take, or 2^60 for 2^63 bits and more. It
// panics if n is negative.
func bytesOf(n int, bitsPerKey float64) uint64 {
	if n < 0 {
		panic(fmt.Sprintf("policy: a filter of %d keys: pass 0 or more", n))
	}
	var nbits uint64
	if float64(n)*bitsPerKey >= 1<<63 {
		nbits = 1 << 63
	} else if whole := uint64(bitsPerKey); float64(whole) == bitsPerKey {
		nbits = uint64(n) * whole // exact beyond 2^53 too
	} else {
		nbits = uint64(math.Ceil(float64(n) * bitsPerKey))
	}
	return (nbits + 7) / 8
}
