package census

import (
	"math"
	"strings"
)

// A gap is the absent keys between two neighbors: the keys that a program with numbers as keys
// would look up. If keys are not numbers, these are as good as random ones. It counts from one
// neighbor to the next where they differ: so it finds the digits before a suffix, and the first
// bytes of little-endian numbers.
//
// LevelDB's hash does not scatter keys that differ in few bits, so the false-positive rate of a
// filter depends on which absent keys are looked up. Random ones show the rate of the textbook
// where the neighbors of present keys have twenty times as many false positives.
type gap struct {
	len uint64 // number of keys; 0 if there are none

	// from and to are the first byte and the one after the last in which the neighbors differ, or,
	// where they differ in a long number, in which the keys between differ from them.
	from, to int

	digits digits
	low    uint64 // the lower neighbor's number
}

// between returns the gap between two keys. It is empty if they are not of one length, or if low is
// not below high.
func between(low, high []byte) (g gap) {
	if len(low) != len(high) {
		return g
	}
	for g.from < len(low) && low[g.from] == high[g.from] {
		g.from++
	}
	for g.to = len(low); g.to > g.from && low[g.to-1] == high[g.to-1]; {
		g.to--
	}
	if g.from == g.to || low[g.from] > high[g.from] {
		return g
	}
	var most int
	g.digits, most = digitsOf(low[g.from:g.to], high[g.from:g.to])
	g.to = min(g.to, g.from+most)
	g.low = g.digits.number(low[g.from:g.to])
	g.len = g.digits.number(high[g.from:g.to]) - g.low - 1
	return g
}

// put turns key, a copy of the lower neighbor, or what put has made of it, into key i of the gap.
// They ascend. REQUIRES: i < g.len.
func (g *gap) put(key []byte, i uint64) { g.digits.put(key[g.from:g.to], g.low+1+i) }

// digits are characters that count, in ascending order.
type digits string

// everyByte is all bytes as digits.
var everyByte = func() digits {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	return digits(all[:])
}()

// digitsOf returns the first digits, of decimal numbers, hexadecimal ones and bytes, that have all
// characters in which the two differ, up to the length of the longest numbers that fit a uint64.
func digitsOf(low, high []byte) (d digits, most int) {
next:
	for _, d = range []digits{"0123456789", "0123456789abcdef", "0123456789ABCDEF", everyByte} {
		most = int(64 / math.Log2(float64(len(d))))
		for i := range min(len(low), most) {
			if low[i] != high[i] && (d.value(low[i]) < 0 || d.value(high[i]) < 0) {
				continue next
			}
		}
		break
	}
	return d, most
}

// value returns the value of a digit, -1 for other characters.
func (d digits) value(c byte) int { return strings.IndexByte(string(d), c) }

// number returns the number that place stands for. Other characters than digits, such as the dashes
// of a UUID, stand in all keys of a gap.
func (d digits) number(place []byte) (n uint64) {
	for _, c := range place {
		if v := d.value(c); v >= 0 {
			n = n*uint64(len(d)) + uint64(v)
		}
	}
	return n
}

// put writes a number over the digits of place.
func (d digits) put(place []byte, n uint64) {
	for i := len(place) - 1; i >= 0; i-- {
		if d.value(place[i]) >= 0 {
			place[i] = d[n%uint64(len(d))]
			n /= uint64(len(d))
		}
	}
}
