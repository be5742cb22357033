package bloom

import "math/bits"

// A modulus finds the byte of a probe without a division. The bit within the byte needs no modulus:
// the number of bits is a multiple of 8, so h % bits and h have the same last three binary digits.
//
// Lemire, Kaser and Kurz, "Faster Remainder by Direct Computation" (2019): let
// c = ceil(2^64/bits). Then c*h mod 2^64, as a fraction of 2^64, is (h % bits)/bits plus an excess
// of at most h/2^64. Times bits, this is h % bits plus less than h*bits/2^64, which is below 1 if
// h < 2^32 and bits <= 2^32. Times bytes = bits/8 instead, it is an eighth of that, and its whole
// part is the byte of bit h % bits: exactly, because an excess below 1 carries no bit into the next
// byte.
//
// h is its own remainder modulo 2^32 bits or more, so larger arrays use 2^32.
type modulus struct {
	bytes, reciprocal uint64 // reciprocal is c
}

// newModulus returns the modulus of an array of n bytes, n > 0.
func newModulus(n int) modulus {
	bytes := min(uint64(n), 1<<29)
	return modulus{bytes, ^uint64(0)/(8*bytes) + 1} // ceil(2^64/bits), as bits is 8 or more
}

// byteOf returns h % bits / 8. It is below bytes for every h: it is the high word of a product with
// bytes.
func (m modulus) byteOf(h uint32) uint64 {
	hi, _ := bits.Mul64(m.reciprocal*uint64(h), m.bytes)
	return hi
}
