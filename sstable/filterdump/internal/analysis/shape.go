package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A shape is what the keys of one length look like: the class of each byte. The keys that have the
// shape are numbers in a mixed radix, whose order is the bytewise one.
type shape []class

// shapes holds the shape of each length of keys.
type shapes struct {
	of      map[int]shape
	lengths []int // ascending
}

// learn returns the shapes of a sample of keys.
func learn(keys [][]byte) shapes {
	s := shapes{of: map[int]shape{}}
	byLength := map[int][][]byte{}
	for _, key := range keys {
		byLength[len(key)] = append(byLength[len(key)], key)
	}
	for length, keys := range byLength {
		of := make(shape, length)
		for i := range of {
			var seen []byte
			for _, key := range keys {
				if at, found := slices.BinarySearch(seen, key[i]); !found {
					seen = slices.Insert(seen, at, key[i])
				}
			}
			of[i] = classOf(seen)
		}
		s.of[length] = of
		s.lengths = append(s.lengths, length)
	}
	slices.Sort(s.lengths)
	return s
}

// String names the lengths of the keys.
func (s shapes) String() string {
	switch n := len(s.lengths); {
	case n == 0:
		return ""
	case n == 1:
		return Count(s.lengths[0], "byte")
	default:
		return fmt.Sprintf("%d to %s", s.lengths[0], Count(s.lengths[n-1], "byte"))
	}
}

// maxNumber bounds the numbers that positions are drawn from together.
const maxNumber = 1 << 62

// number returns the end of the positions of s, beginning at from, that make up a number below
// maxNumber.
func (s shape) number(from int) (to int) {
	total := uint64(1)
	for to = from; to < len(s) && total <= maxNumber/uint64(len(s[to])); to++ {
		total *= uint64(len(s[to]))
	}
	return to
}

// rank returns how many of the numbers of the positions from to `to` stand for keys less than y,
// and whether the next one stands for y's own bytes. y may have any bytes and any length of at
// least from.
func (s shape) rank(y []byte, from, to int) (rank uint64, own bool) {
	own = true
	for i := from; i < to; i++ {
		rank *= uint64(len(s[i]))
		switch {
		case !own: // of the numbers that begin like this one, all the others stand for greater keys
		case i >= len(y):
			own = false
		default:
			below, member := slices.BinarySearch(s[i], y[i])
			rank += uint64(below)
			own = member
		}
	}
	if own && to == len(s) && len(y) > to { // its number stands for a prefix of y, which is less
		return rank + 1, false
	}
	return rank, own
}

// put writes the number to the positions from to `to` of key.
func (s shape) put(key []byte, number uint64, from, to int) {
	for i := to - 1; i >= from; i-- {
		radix := uint64(len(s[i]))
		key[i] = s[i][number%radix]
		number /= radix
	}
}

// scatter fills the positions of key beginning at from with random bytes of their classes.
func (s shape) scatter(rng *rand.Rand, key []byte, from int) {
	for i := from; i < len(s); i++ {
		key[i] = s[i][rng.IntN(len(s[i]))]
	}
}

// bitsFrom returns the logarithm to the base 2 of the number of keys that differ at the positions
// beginning at from only.
func (s shape) bitsFrom(from int) (bits float64) {
	for _, c := range s[from:] {
		bits += math.Log2(float64(len(c)))
	}
	return bits
}
