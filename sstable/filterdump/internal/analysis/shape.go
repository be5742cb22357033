package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A shape is what the keys of one length look like: the class of each byte. The keys that have the shape are numbers in a
// mixed radix, whose order is the bytewise one.
type shape []*class

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
			var seen [256]bool
			for _, key := range keys {
				seen[key[i]] = true
			}
			of[i] = classOf(&seen)
		}
		s.of[length], s.number[length] = of, len(keys)
		s.lengths = append(s.lengths, length)
	}
	slices.Sort(s.lengths)
	return s
}

// String describes the shape of the most frequent length.
func (s shapes) String() string {
	if len(s.lengths) == 0 {
		return ""
	}
	most, total := s.lengths[0], 0
	for _, length := range s.lengths {
		total += s.number[length]
		if s.number[length] > s.number[most] {
			most = length
		}
	}
	text := s.of[most].String()
	if len(s.lengths) > 1 {
		text += fmt.Sprintf("; %s of the keys have this length", percent(float64(s.number[most])/float64(total)))
	}
	return text
}

// maxParts bounds how many parts of a shape are shown.
const maxParts = 12

// String describes the shape, such as `16 bytes: "user", 12 digits`.
func (s shape) String() string {
	var parts []string
	for i := 0; i < len(s) && len(parts) < maxParts; {
		end := i
		var constant []byte
		for end < len(s) && len(s[end].members) == 1 {
			constant = append(constant, s[end].members[0])
			end++
		}
		if end > i {
			parts = append(parts, fmt.Sprintf("%q", constant))
		} else {
			for end < len(s) && s[end] == s[i] {
				end++
			}
			parts = append(parts, count(end-i, s[i].name))
		}
		if i = end; i < len(s) && len(parts) == maxParts {
			parts = append(parts, "...")
		}
	}
	if len(s) == 0 {
		return "0 bytes"
	}
	return count(len(s), "byte") + ": " + strings.Join(parts, ", ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// maxNumber bounds the numbers that positions are drawn from together.
const maxNumber = 1 << 62

// number returns the end of the positions of s, beginning at from, that make up a number below maxNumber, and how many such
// numbers there are.
func (s shape) number(from int) (to int, total uint64) {
	total = 1
	for to = from; to < len(s); to++ {
		radix := uint64(len(s[to].members))
		if total > maxNumber/radix {
			break
		}
		total *= radix
	}
	return to, total
}

// rank returns how many of the numbers of the positions from to `to` stand for keys less than y, and whether the next one
// stands for y's own bytes. y may have any bytes and any length of at least from.
func (s shape) rank(y []byte, from, to int) (rank uint64, own bool) {
	own = true
	for i := from; i < to; i++ {
		rank *= uint64(len(s[i].members))
		switch {
		case !own: // of the numbers that begin like this one, all the others stand for greater keys
		case i >= len(y):
			own = false
		default:
			rank += uint64(s[i].below[y[i]])
			own = s[i].contains(y[i])
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
		radix := uint64(len(s[i].members))
		key[i] = s[i].members[number%radix]
		number /= radix
	}
}

// scatter fills the positions of key beginning at from with random bytes of their classes.
func (s shape) scatter(rng *rand.Rand, key []byte, from int) {
	for i := from; i < len(s); i++ {
		key[i] = s[i].members[rng.IntN(len(s[i].members))]
	}
}

// bitsFrom returns the logarithm to the base 2 of the number of keys that differ at the positions beginning at from only.
func (s shape) bitsFrom(from int) (bits float64) {
	for _, c := range s[from:] {
		bits += math.Log2(float64(len(c.members)))
	}
	return bits
}

// widened returns s with one more position that varies: the one before the first that does, or the last of all. ok is
// false if all vary.
func (s shape) widened() (wider shape, ok bool) {
	i := slices.IndexFunc(s, func(c *class) bool { return len(c.members) > 1 })
	if i == 0 || len(s) == 0 {
		return nil, false
	}
	if i < 0 {
		i = len(s)
	}
	i--
	wider = slices.Clone(s)
	wider[i] = smallest(s[i].members)
	return wider, true
}
