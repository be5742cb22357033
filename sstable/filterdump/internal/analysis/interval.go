package analysis

import (
	"bytes"
	"math"
	"math/rand/v2"
)

// An interval is the keys of one shape that lie strictly between two neighbors in the table, and so
// are absent. They share the neighbors' common prefix. The positions after it, as many as make up a
// number below 2^62, are drawn as one number, the others each for itself. Keys that begin with the
// number of a neighbor are left out if there are others.
type interval struct {
	neighbors
	shape    shape
	from, to int    // the positions of the number
	first, n uint64 // the n numbers beginning at first are those of keys between
}

func (s shape) between(n neighbors) interval {
	v := interval{neighbors: n, shape: s, from: commonPrefix(n.low, n.high)}
	if v.from >= len(s) {
		return v
	}
	v.to, _ = s.number(v.from)
	first, own := s.rank(n.low, v.from, v.to)
	if own {
		first++
	}
	if end, _ := s.rank(n.high, v.from, v.to); end > first {
		v.first, v.n = first, end-first
	}
	return v
}

// bits returns the logarithm to the base 2 of the number of keys.
func (v *interval) bits() float64 { return math.Log2(float64(v.n)) + v.shape.bitsFrom(v.to) }

// draw calls f with n different keys in random order, or one for each number if there are fewer of
// these. The key's memory is reused.
func (v *interval) draw(rng *rand.Rand, n int, f func(key []byte) error) error {
	key := bytes.Clone(v.low[:v.from])
	key = append(key, make([]byte, len(v.shape)-v.from)...)
	for _, i := range pick(rng, n, v.n) {
		v.shape.put(key, v.first+i, v.from, v.to)
		v.shape.scatter(rng, key, v.to)
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}

// pick returns n different numbers below size in random order, or all if there are fewer (Floyd's
// algorithm; Bentley and Floyd, "A Sample of Brilliance", 1987).
func pick(rng *rand.Rand, n int, size uint64) []uint64 {
	n = int(min(uint64(n), size))
	picked := make([]uint64, 0, n)
	taken := make(map[uint64]bool, n)
	for last := size - uint64(n); last < size; last++ {
		i := rng.Uint64N(last + 1)
		if taken[i] {
			i = last
		}
		taken[i] = true
		picked = append(picked, i)
	}
	rng.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	return picked
}

// commonPrefix returns the length of the longest common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
