package ribbon

import "math/bits"

// equation returns a key's equation for the seeds of one multiplier, in a shard of that many slots:
// bit i of coeffs is the coefficient of slot 8*start + i, bit j of fp is what these slots
// must add up to in column j. Bits from fingerprintBits on are the turning bits, 0 unless the key
// turns; turned says what they add to coeffs.
func equation(hash, multiplier uint64, slots uint) (start uint, coeffs, fp uint64) {
	coeffs, fp = draw(hash, multiplier)
	start, turning := place(fp, slots)
	fp &= 1<<fingerprintBits - 1 | turning&(1<<(fingerprintBits+turnBits)-1)
	return start, inside(coeffs, start, slots), fp
}

// multiplier returns what hashes are multiplied with. Its top byte is 0xff, so the product's upper
// half takes nearly all values. Otherwise its upper bits would often be 0, and the start depend on
// the last coefficients: half as many systems with as many keys as slots would have a solution.
func multiplier(seed uint64) uint64 {
	return 0x9e3779b97f4a7c15*(seed|(turns-1)) | 0xff<<56
}

// draw makes 64 coefficients of a hash, a fingerprint of 41 bits, 11 turning and 12 start bits.
func draw(hash, multiplier uint64) (coeffs, fp uint64) {
	hi, lo := bits.Mul64(hash, multiplier)
	return lo, hi ^ lo
}

// place returns the block at which the window of a key begins, and all ones if the key turns, or 0.
// The start is drawn from a range that is longer than that of the possible ones by padding at both
// ends, and clamped; keys clamped at the front turn. No branch could be predicted: there are none.
func place(fp uint64, slots uint) (start uint, turning uint64) {
	last := (int64(slots) - windowSlots + 7) >> 3
	last &^= last >> 63 // at least 0
	drawn := int64(fp>>52*uint64(last+1+2*padding)>>12) - padding
	before := drawn >> 63
	drawn &^= before
	room := last - drawn
	return uint(drawn + room&(room>>63)), uint64(before)
}

// inside leaves out the coefficients of slots beyond the end of the shard.
func inside(coeffs uint64, start, slots uint) uint64 {
	if end := 8*start + windowSlots; end > slots {
		return coeffs << (end - slots) >> (end - slots)
	}
	return coeffs
}

// turned returns what a turn adds to the coefficients of the first slots.
func turned(fp, seed uint64) uint64 {
	return fp >> (fingerprintBits + seed%turns) % (1 << turnSlots)
}
