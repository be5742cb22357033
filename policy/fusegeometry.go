package policy

import "math/bits"

// fuseMaxKeys bounds the keys of a binary fuse filter: the library counts bytes in 32 bits.
const fuseMaxKeys = 1 << 29

// fuseSegmentFrom[i] is the number of keys from which on a segment has 2^(i+3) cells, and not 2^(i+2): the smallest integer
// that is not below 3.33^(i+0.75).
var fuseSegmentFrom = [...]int{3, 9, 28, 92, 304, 1010, 3362, 11193, 37273, 124118, 413310, 1376322, 4583150, 15261887, 50822082, 169237530}

// fuseCells returns how many cells the filter of n keys has. The library, which makes the filter, computes the same with
// floating-point logarithms. They might differ in a last digit from platform to platform, and so might, but for this
// function, the choice between fingerprints of different length; TestFuseGeometry shows that both agree.
func fuseCells(n int) uint64 {
	log := 2
	for log-2 < len(fuseSegmentFrom) && n >= fuseSegmentFrom[log-2] {
		log++
	}
	segments := (fuseCapacity(uint64(n)) + 1<<log - 1) >> log
	return max(3, segments) << log
}

// fuseCapacity returns how many cells n keys should have at least: n * max(9/8, 7/8 + ln(1000000)/ln(n)/4), rounded.
func fuseCapacity(n uint64) uint64 {
	const million = 1_000_000
	switch {
	case n < 2:
		return 0
	case n >= million:
		return (9*n + 4) / 8
	}
	log := log2(n)
	return (n*(7*log+2*log2(million)) + 4*log) / (8 * log)
}

// log2 returns 2^32 times the logarithm of n, which is at least 1, to the base of 2: digit by digit, since squaring a number
// doubles its logarithm. Less than 2^-30 is lost.
func log2(n uint64) uint64 {
	whole := bits.Len64(n) - 1
	log := uint64(whole)
	x := n << (63 - whole) // 1 to 2, in units of 2^-63
	for range 32 {
		square, _ := bits.Mul64(x, x) // 1 to 4, in units of 2^-62
		digit := square >> 63
		log = log<<1 | digit
		x = square << (1 - digit)
	}
	return log
}
