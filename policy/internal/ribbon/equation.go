package ribbon

import "math/bits"

// equation returns a key's equation for the seeds of one multiplier, in a shard of that many slots.
// Bit i of coeffs is the coefficient of slot 8*start + i; bit j of fp is what these slots must add
// up to in column j. Above them, fp carries variantBits more bits, which are 0 unless the key
// varies; varied returns what they add to coeffs.
func equation(hash, multiplier uint64, slots uint) (start uint, coeffs, fp uint64) {
	coeffs, fp = draw(hash, multiplier)
	start, varies := place(fp, slots)
	fp &= 1<<fingerprintBits - 1 | varies&(1<<(fingerprintBits+variantBits)-1)
	return start, coeffs >> beyond(start, slots), fp
}

// multiplier returns the number that hashes are multiplied by, the same for all 8 variants. It is
// odd, which gives different hashes different coefficients, and derives from the golden ratio, as
// in Fibonacci hashing. Its top byte is 0xff: with a small multiplier, the upper bits of the
// product would often be 0, and the 12 bits of d would equal the last 12 coefficients.
func multiplier(seed uint64) uint64 {
	return 0x9e3779b97f4a7c15*(seed|(variants-1)) | 0xff<<56
}

// draw turns a hash into 64 coefficients and 64 further bits: from the lowest bit on, 41 of the
// fingerprint, 11 of the variants, and 12 of d. Of the 4096 values of these 12, 33 or 34 lead to
// each of the 124 values of d in the largest shard. hi alone would nearly equal the hash itself,
// whatever the multiplier, as all multipliers are nearly 2^64.
func draw(hash, multiplier uint64) (coeffs, fp uint64) {
	hi, lo := bits.Mul64(hash, multiplier)
	return lo, hi ^ lo
}

// place returns the octet at which the span of a key begins. varies is all ones if the key varies,
// and 0 otherwise. drawn is d, from a range that exceeds that of the starts by padding at either
// end. place clamps it; a key varies if d is negative. There are no branches, as none could be
// predicted: x>>63 is -1, all ones, if a signed x is negative, and 0 otherwise. Nothing overflows,
// because a shard has at most 2^29 slots: an index has 26 bits for the number of an octet.
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

// beyond returns how many slots of a span would lie past the last slot of the shard. The key drops
// as many coefficients, the lowest bits of the product. These are the worst: bit i depends only on
// bits 0 to i of the hash. If they stayed, keys whose hashes have the same low bits would have the
// same coefficients with every multiplier, and 1 filter of 8 keys in 300 would have no solution
// (TestNoSolution).
func beyond(start, slots uint) uint { return max(8*start+spanSlots, slots) - slots }

// varied returns what the variant of a seed adds to the coefficients of slots 0 to 3.
func varied(fp, seed uint64) uint64 {
	return fp >> (fingerprintBits + seed%variants) % (1 << variantSlots)
}
