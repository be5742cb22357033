package analysis

import (
	"bytes"
	"math"
	"math/rand/v2"
)

// An interval is the keys of one shape that lie strictly between two neighbours in the table, and so are absent.
//
// They share the neighbours' common prefix. The positions behind it, as many as make up a number below 2^62, are drawn as
// one number, the others each for itself; a key that does not lie between then is drawn again, so that all keys between
// are equally likely.
type interval struct {
	neighbours
	shape    shape
	from, to int    // the positions of the number
	first, n uint64 // the n numbers beginning at first stand for keys between, or may, if there are positions behind them
}

func (s shape) between(n neighbours) interval {
	v := interval{neighbours: n, shape: s, from: commonPrefix(n.low, n.high)}
	if v.from >= len(s) {
		return v
	}
	var total uint64
	v.to, total = s.number(v.from)
	first, own := s.rank(n.low, v.from, v.to)
	end, _ := s.rank(n.high, v.from, v.to)
	switch {
	case v.whole():
		if own {
			first++
		}
		v.first, v.n = first, end-first
	case end > first: // if not, both begin with the same number: such neighbours are left out
		v.first, v.n = first, min(end+1, total)-first
	}
	return v
}

// whole reports whether the number is all that varies.
func (v *interval) whole() bool { return v.to == len(v.shape) }

// bits returns the logarithm to the base 2 of the number of keys: -Inf if there are none. If the number is not all that
// varies, this is exact but for the keys that begin with the neighbours' own numbers.
func (v *interval) bits() float64 {
	if v.whole() || v.n == 0 {
		return math.Log2(float64(v.n))
	}
	return math.Log2(float64(v.n-1)) + v.shape.bitsFrom(v.to)
}

// draw calls f with n different keys in random order, or all if there are fewer. Keys whose number is not all that varies
// are drawn independently: that two are the same is as unlikely as a hit among 2^62. The key's memory is reused.
func (v *interval) draw(rng *rand.Rand, n int, f func(key []byte) error) error {
	key := bytes.Clone(v.low[:v.from])
	key = append(key, make([]byte, len(v.shape)-v.from)...)
	if v.whole() {
		for _, i := range pick(rng, n, v.n) {
			v.shape.put(key, v.first+i, v.from, v.to)
			if err := f(key); err != nil {
				return err
			}
		}
		return nil
	}
	for range n {
		for range maxTries {
			v.shape.put(key, v.first+rng.Uint64N(v.n), v.from, v.to)
			v.shape.scatter(rng, key, v.to)
			if bytes.Compare(v.low, key) < 0 && bytes.Compare(key, v.high) < 0 {
				if err := f(key); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// maxTries bounds how often a key is drawn again. At least half of the numbers stand for keys between, but for neighbours
// whose numbers follow each other: there, it is the rest that decides.
const maxTries = 64

// pick returns n different numbers below size in random order, or all if there are fewer (Floyd's algorithm; Bentley and
// Floyd, "A Sample of Brilliance", 1987).
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
