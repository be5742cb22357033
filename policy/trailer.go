package policy

// Filters of our own encoding end in a trailer (LevelDB's end in k alone): the parameters, a check
// byte, and a byte for the encoding, from the range that LevelDB reserves. FORMAT.md says what the
// check byte catches.

// trailerTail is the size of a trailer without its parameters.
const trailerTail = 2

// appendTrailer appends the trailer of a filter with a payload of n bytes.
func appendTrailer(dst []byte, n int, e Encoding, parameters ...byte) []byte {
	check := lengthCheck(n) ^ byte(e)
	for _, p := range parameters {
		check ^= p
	}
	return append(append(dst, parameters...), check, byte(e))
}

// lengthCheck returns the part of the check byte that depends on the length n of the payload. The
// factor is 2^32 / golden ratio, as a prime: it tells all lengths near each other apart.
func lengthCheck(n int) byte { return byte(uint32(n) * 0x9e3779b1 >> 24) }
