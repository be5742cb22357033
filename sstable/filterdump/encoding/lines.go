package encoding

import "math"

// measureLines returns what the bits of a filter tell whose probes for a key lie in one line of lineBytes. array is whole
// lines.
//
// Distinct and FPP are estimated line by line: some lines have more keys than others, and the lines' mean number of bits set
// would give too small a number of both. FPP takes the probes of a key for independent; within a line they are less so the
// more they are, and more keys pass.
func measureLines(array []byte, lineBytes, k int) Stats {
	s := Stats{K: k, Bits: 8 * int64(len(array)), LineBits: 8 * int64(lineBytes)}
	lineBits, lines := float64(s.LineBits), float64(len(array)/lineBytes)
	for line := array; len(line) > 0; line = line[lineBytes:] {
		set := onesIn(line[:lineBytes])
		fill := float64(set) / lineBits
		s.Set += set
		s.Distinct -= lineBits / float64(k) * math.Log1p(-fill)
		s.FPP += math.Pow(fill, float64(k)) / lines
	}
	return s
}
