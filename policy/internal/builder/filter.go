package builder

import (
	"fmt"
	"math"
	"slices"
)

// Bytes returns how many bytes n * bitsPerKey bits take, or 2^60 for 2^63 bits and more. It panics
// if n is negative.
func Bytes(n int, bitsPerKey float64) uint64 {
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

// Extend appends size zero bytes, a filter, to dst. It returns the extended slice and the filter in
// it. It panics, as make does, if the size exceeds the largest int: on a 32-bit platform, with a
// filter larger than the memory there.
func Extend(dst []byte, size uint64) (extended, filter []byte) {
	if size > math.MaxInt {
		panic(fmt.Sprintf("policy: a filter of %d bytes exceeds the memory of this platform", size))
	}
	extended = slices.Grow(dst, int(size))[:len(dst)+int(size)]
	filter = extended[len(dst):]
	clear(filter) // Grow leaves the spare capacity as it was
	return extended, filter
}

// Replacement is the filter in place of one that cannot be built or is broken. It excludes nothing:
// LevelDB's readers answer "may contain" to every filter of at least 2 bytes whose last one is
// above 30.
const Replacement = "\xff\xff"
