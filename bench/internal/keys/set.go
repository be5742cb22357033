package keys

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A Set is the present and the absent keys of a database. It is immutable.
type Set struct {
	shape   Shape
	seed    uint64
	present []uint64 // in random order
	between []uint64 // absent, in random order; beyond the range if all of it is present
}

// NewSet returns a set of n present keys, and of at most as many absent keys of each sort, chosen
// and ordered by seed.
func NewSet(shape Shape, density Density, n, absent int, seed int64) (*Set, error) {
	if n < 1 || n > 1<<30 {
		return nil, fmt.Errorf("%d keys: pass 1 to 2^30", n)
	}
	mixed := Mix(uint64(seed))
	rng := rand.New(rand.NewPCG(uint64(seed), mixed))
	s := &Set{shape: shape, seed: mixed}
	s.present, s.between = density.Draw(mixed, 0, n, absent, rng)
	shuffle(rng, s.present)
	shuffle(rng, s.between)
	return s, nil
}

func shuffle(rng *rand.Rand, indexes []uint64) {
	rng.Shuffle(len(indexes), func(i, j int) { indexes[i], indexes[j] = indexes[j], indexes[i] })
}

// Len returns the number of present keys.
func (s *Set) Len() int { return len(s.present) }

// AppendPresent appends present key i, 0 <= i < Len, to dst; the keys come in random order.
func (s *Set) AppendPresent(dst []byte, i int) []byte {
	return s.shape.Append(dst, s.seed, s.present[i])
}

// AppendGuard appends a present key beyond all others. The tables that contain it reach over the
// absent keys beyond the present ones; without it no engine would ask a filter for those.
func (s *Set) AppendGuard(dst []byte) []byte {
	return s.shape.Append(dst, s.seed, Indexes-1)
}

// Present returns n present keys, or all if there are fewer, in another order than AppendPresent:
// what was stored last is in other levels than what was stored first.
func (s *Set) Present(n int) [][]byte {
	indexes := slices.Clone(s.present)
	shuffle(rand.New(rand.NewPCG(s.seed, 1)), indexes)
	return s.keys(indexes[:min(n, len(indexes))])
}

// Between returns n absent keys between the present ones, or all if there are fewer. If all keys of
// the range are present, they follow it.
func (s *Set) Between(n int) [][]byte { return s.keys(s.between[:min(n, len(s.between))]) }

func (s *Set) keys(indexes []uint64) [][]byte {
	return s.shape.Keys(indexes, s.seed)
}
