package policy

import (
	"fmt"
	"math"
	"slices"
)

// filterBytes returns how many bytes n * bitsPerKey bits take, or 2^60 for 2^63 bits and more.
// It panics if n is negative.
func filterBytes(n int, bitsPerKey float64) uint64 {
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

// extend appends size zero bytes, the filter of n keys, to dst. It returns the extended slice and
// the filter in it. It panics, as make does, if an int cannot express the size, which takes a
// 32-bit platform and a filter that no memory there could contain.
func (c *common) extend(dst []byte, size uint64, n int) (extended, filter []byte) {
	if size > math.MaxInt {
		panic(fmt.Sprintf("policy: a filter of %d keys at %v bits per key has %d bytes, "+
			"more than an int can express", n, c.bitsPerKey, size))
	}
	extended = slices.Grow(dst, int(size))[:len(dst)+int(size)]
	filter = extended[len(dst):]
	clear(filter) // Grow leaves the spare capacity as it was
	return extended, filter
}
