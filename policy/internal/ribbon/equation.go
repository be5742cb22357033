package ribbon

import "math/bits"

// equation returns a key's equation for the seeds of one multiplier, in a shard of that many slots:
// bit i of coeffs is the coefficient of slot 8*start + i, bit j of fp is what these slots must add
// up to in column j. fp has variantBits more bits, which are 0 unless the key varies; varied says
// what they add to coeffs.
func equation(hash, multiplier uint64, slots uint) (start uint, coeffs, fp uint64) {
	coeffs, fp = draw(hash, multiplier)
	start, varies := place(fp, slots)
	fp &= 1<<fingerprintBits - 1 | varies&(1<<(fingerprintBits+variantBits)-1)
	return start, coeffs >> beyond(start, slots), fp
}

// multiplier returns what hashes are multiplied with, for all 8 variants the same. It is odd, so
// different hashes have different coefficients, and comes from the golden ratio, as in Fibonacci
// hashing. Its top byte is 0xff: with a small multiplier, the upper bits of the product would often
// be 0, and the start would be the last 12 coefficients.
func multiplier(seed uint64) uint64 {
	return 0x9e3779b97f4a7c15*(seed|(variants-1)) | 0xff<<56
}

// draw makes 64 coefficients of a hash, and 64 bits for all else: from the lowest bit on, the
// fingerprint, 41 bits, what the variants add, 11, and the start, 12. Of 4096 values, each of the
// 125 possible draws of the largest shard has 32 or 33. hi alone would be nearly the hash itself,
// whatever the multiplier, as all multipliers are nearly 2^64.
func draw(hash, multiplier uint64) (coeffs, fp uint64) {
	hi, lo := bits.Mul64(hash, multiplier)
	return lo, hi ^ lo
}

// place returns the octet at which the span of a key begins, and all ones if the key varies, or 0.
// The start is drawn from a range that is longer than that of the possible ones by padding at both
// ends, and clamped; keys clamped at the front vary. No branch could be predicted: there are none.
// x>>63 of a signed x is -1, all ones, if x is negative, and 0 otherwise. Nothing overflows: an
// index has 26 bits for an octet, so a shard has at most 2^29 slots.
func place(fp uint64, slots uint) (start uint, varies uint64) {
	last := (int64(slots) - spanSlots + 7) >> 3
	last &^= last >> 63                                           // at least 0
	drawn := int64(fp>>52*uint64(last+1+2*padding)>>12) - padding // -padding to last+padding
	before := drawn >> 63
	drawn &^= before       // at least 0
	excess := last - drawn // negative if drawn is too large
	drawn += excess & (excess >> 63)
	return uint(drawn), uint64(before)
}

// beyond returns how many slots of a span would lie after the last slot of the shard. The key drops
// as many coefficients, the lowest bits of the product. These are the worst: bit i depends only on
// bits 0 to i of the hash. If they stayed, keys whose hashes end alike would have the same
// coefficients with every multiplier, and 1 filter of 8 keys in 300 would have no solution
// (TestNoSolution).
func beyond(start, slots uint) uint { return max(8*start+spanSlots, slots) - slots }

// varied returns what a seed's variant adds to the coefficients of the first slots.
func varied(fp, seed uint64) uint64 {
	return fp >> (fingerprintBits + seed%variants) % (1 << variantSlots)
}
