package keys

import (
	"errors"
	"math/rand/v2"
	"slices"
)

// ErrLost marks the one error that must never come: a present key was not found.
var ErrLost = errors.New("a key is lost")

// Draw returns n present keys, in the order of their indexes, and absent ones, at most limit, in
// random order, and none twice. 63 % of a range of indexes is present, as LevelDB's db_bench leaves
// it, and the absent ones lie between. The range begins anywhere unless it is the first: that is a
// counter's.
func (s Shape) Draw(rng *rand.Rand, first bool, n, limit int) (present, absent [][]byte) {
	rangeSeed, index := rng.Uint64(), uint64(0)
	if !first {
		index = rng.Uint64N(indexes / 2)
	}
	keySeed := rng.Uint64()
	var in, out []uint64
	for ; len(in) < n; index++ {
		if Mix(rangeSeed+index)%100 < 63 {
			in = append(in, index)
		} else {
			out = append(out, index)
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return s.Keys(in, keySeed), s.Keys(out[:min(limit, len(out))], keySeed)
}

// A Set is the keys of a database. Nobody may change it.
type Set struct {
	Shape   Shape
	Present [][]byte // in random order
	Absent  [][]byte // in random order
}

// Set returns n present keys, and absent ones, at most that many. They are always the same. Of
// random keys, which lie anywhere, there are always as many absent ones.
func (s Shape) Set(n, absent int) *Set {
	rng := rand.New(rand.NewPCG(1, 1))
	set := &Set{Shape: s}
	set.Present, set.Absent = s.Draw(rng, true, n, absent)
	shuffle(rng, set.Present)
	for s.Name == "random" && len(set.Absent) < absent {
		_, more := s.Draw(rng, false, n, absent-len(set.Absent)) // of another seed: other keys
		set.Absent = append(set.Absent, more...)
	}
	return set
}

func shuffle(rng *rand.Rand, keys [][]byte) {
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
}

// Sample returns n present keys, or all if there are fewer, in another order than Present: what was
// stored last is in other levels than what was stored first.
func (s *Set) Sample(n int) [][]byte {
	keys := slices.Clone(s.Present)
	shuffle(rand.New(rand.NewPCG(2, 2)), keys)
	return keys[:min(n, len(keys))]
}
