// Package keyset makes the keys that the benchmark stores and looks up.
//
// The keys of a set are those of the indexes 0 to span-1, of which a random part is present; the density is that part.
// Absent keys lie either between the present ones (the other indexes below span) or beyond them.
package keyset

import (
	"fmt"
	"math"
	"math/rand"
)

// A Set holds the present and the absent keys of one benchmark. It is immutable.
type Set struct {
	shape   Shape
	seed    uint64
	present []int // in random order
	between []int // in random order
	span    int
}

// New returns a set of num present keys among num/density, chosen and ordered by seed.
func New(shape Shape, num int, density float64, seed int64) (*Set, error) {
	if num < 1 {
		return nil, fmt.Errorf("%d keys: pass 1 or more", num)
	}
	if !(density > 0 && density < 1) {
		return nil, fmt.Errorf("density %v: pass a number between 0 and 1, such as 0.63 (at 1 no key between the present ones would be absent)", density)
	}
	if float64(num)/density > math.MaxInt32 {
		return nil, fmt.Errorf("%d keys at density %v span more than 2^31 indexes: pass fewer keys or a larger density", num, density)
	}
	span := max(int(math.Ceil(float64(num)/density)), num+1)
	order := rand.New(rand.NewSource(seed)).Perm(span)
	return &Set{shape: shape, seed: Mix(uint64(seed)), present: order[:num], between: order[num:], span: span}, nil
}

// Len returns the number of present keys.
func (s *Set) Len() int { return len(s.present) }

// AppendPresent appends present key i, 0 <= i < Len, to dst; the keys come in random order.
func (s *Set) AppendPresent(dst []byte, i int) []byte {
	return s.shape.appendKey(dst, s.seed, uint64(s.present[i]))
}

// AppendGuard appends a present key that lies far beyond all others. The tables that hold it reach over the absent keys
// beyond the present ones; without it no engine would ask a filter for those.
func (s *Set) AppendGuard(dst []byte) []byte {
	return s.shape.appendKey(dst, s.seed, 1<<40)
}

// Present returns n present keys, fewer if there are not so many, in random order. It is not the order of AppendPresent:
// what was stored last lies in other levels than what was stored first.
func (s *Set) Present(n int) [][]byte {
	order := rand.New(rand.NewSource(int64(s.seed))).Perm(len(s.present))
	return s.keys(min(n, len(order)), func(i int) int { return s.present[order[i]] })
}

// Between returns n absent keys that lie between the present ones, fewer if there are not so many, in random order.
func (s *Set) Between(n int) [][]byte {
	return s.keys(min(n, len(s.between)), func(i int) int { return s.between[i] })
}

// Beyond returns n absent keys that lie beyond the present ones but for the guard, in random order. (Keys of a shape
// without order lie anywhere.)
func (s *Set) Beyond(n int) [][]byte {
	order := rand.New(rand.NewSource(int64(s.seed))).Perm(n)
	return s.keys(n, func(i int) int { return s.span + order[i] })
}

func (s *Set) keys(n int, index func(i int) int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = s.shape.appendKey(nil, s.seed, uint64(index(i)))
	}
	return keys
}
