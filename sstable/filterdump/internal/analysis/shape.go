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

// shapes holds the shape of each length of keys, and how many keys of a sample had that length.
type shapes struct {
	of      map[int]shape
	number  map[int]int
	lengths []int // ascending
}

// learn returns the shapes of a sample of keys.
func learn(keys [][]byte) shapes {
	s := shapes{of: map[int]shape{}, number: map[int]int{}}
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
		s.of[length], s.number[length] = of, len(keys)
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
		return count(s.lengths[0], "byte")
	default:
		return fmt.Sprintf("%d to %s", s.lengths[0], count(s.lengths[n-1], "byte"))
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxNumber bounds the numbers that positions are drawn from together.
const maxNumber = 1 << 62

// number returns the end of the positions of s, beginning at from, that make up a number below
// maxNumber, and how many such numbers there are.
func (s shape) number(from int) (to int, total uint64) {
	total = 1
	for to = from; to < len(s); to++ {
		radix := uint64(len(s[to]))
		if total > maxNumber/radix {
			break
		}
		total *= radix
	}
	return to, total
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
			below, member := s[i].below(y[i])
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

// widened returns s with one more position that varies: the one before the first that does, or the
// last of all. ok is false if all vary.
func (s shape) widened() (wider shape, ok bool) {
	i := slices.IndexFunc(s, func(c class) bool { return len(c) > 1 })
	if i == 0 || len(s) == 0 {
		return nil, false
	}
	if i < 0 {
		i = len(s)
	}
	i--
	wider = slices.Clone(s)
	wider[i] = smallest(s[i])
	return wider, true
}
