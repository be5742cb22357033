package keys

import (
	"errors"
	"math/rand/v2"
	"slices"
)

// ErrLost marks the one error that must never come: a present key was not found.
var ErrLost = errors.New("a key is lost")

// A Density says which indexes of a range are present, and where the absent ones are.
type Density struct {
	Name      string
	part      float64 // of the indexes that are present; if 1, the absent ones follow the range
	isPresent func(seed, index uint64) bool
}

// Densities lists the densities of shapes that have an order.
var Densities = []Density{
	{"even", 0.5, func(_, index uint64) bool { return index%2 == 0 }},
	atRandom("63%", 0.63), // as LevelDB's db_bench fillrandom leaves a range
	atRandom("10%", 0.10),
	{"beyond", 1, everything},
}

// anywhere is the density of unordered shapes.
var anywhere = Density{"any", 1, everything}

func everything(_, _ uint64) bool { return true }

func atRandom(name string, part float64) Density {
	limit := uint64(part * (1 << 53))
	return Density{name, part,
		func(seed, index uint64) bool { return Mix(seed+index)>>11 < limit }}
}

// Between reports whether the absent indexes are between the present ones.
func (d Density) Between() bool { return d.part < 1 }

// draw returns n present indexes in order, from start on, which seed chooses, and absent ones, at
// most limit, in an order that rng chooses: between the present ones, or following them.
func (d Density) draw(seed, start uint64, n, limit int, rng *rand.Rand) (present, absent []uint64) {
	index := start
	for ; len(present) < n; index++ {
		if d.isPresent(seed, index) {
			present = append(present, index)
		} else {
			absent = append(absent, index)
		}
	}
	for ; !d.Between() && len(absent) < limit; index++ {
		absent = append(absent, index)
	}
	rng.Shuffle(len(absent), func(i, j int) { absent[i], absent[j] = absent[j], absent[i] })
	return present, absent[:min(limit, len(absent))]
}

// A Source is where keys come from.
type Source struct {
	Shape   Shape
	Density Density
}

// Sources returns the shapes of those names with each of the densities of those names. The keys of
// unordered shapes are anywhere.
func Sources(shapes, densities []string) (all []Source) {
	for _, s := range Shapes {
		for _, d := range append(Densities, anywhere) {
			chosen := slices.Contains(densities, d.Name)
			if s.unordered {
				chosen = d.Name == anywhere.Name
			}
			if chosen && slices.Contains(shapes, s.Name) {
				all = append(all, Source{s, d})
			}
		}
	}
	return all
}

// Draw returns n present keys, as an engine adds them to a filter, and absent ones, at most limit,
// and none twice. The range begins anywhere unless it is the first: that is a counter's.
func (s Source) Draw(rng *rand.Rand, first bool, n, limit int) (present, absent [][]byte) {
	rangeSeed, start := rng.Uint64(), uint64(0)
	if !first && !s.Shape.unordered {
		start = rng.Uint64N(indexes / 2)
	}
	keySeed := rng.Uint64()
	in, out := s.Density.draw(rangeSeed, start, n, limit, rng)
	return s.Shape.Keys(in, keySeed), s.Shape.Keys(out, keySeed)
}

// Count is a number of keys.
type Count = int

// A Set is the keys of a database. Nobody may change it.
type Set struct {
	Source  Source
	Present [][]byte // in random order
	Between [][]byte // absent, in random order; beyond the range if all of it is present
	seed    uint64
}

// Set returns n present keys, and absent ones, at most that many. They are always the same.
func (s Source) Set(n, absent int) *Set {
	rng := rand.New(rand.NewPCG(1, Mix(1)))
	set := &Set{Source: s, seed: rng.Uint64()}
	set.Present, set.Between = s.Draw(rng, true, n, absent)
	shuffle(rng, set.Present)
	return set
}

func shuffle(rng *rand.Rand, keys [][]byte) {
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
}

// Sample returns n present keys, or all if there are fewer, in another order than Present: what was
// stored last is in other levels than what was stored first.
func (s *Set) Sample(n int) [][]byte {
	keys := slices.Clone(s.Present)
	shuffle(rand.New(rand.NewPCG(s.seed, 1)), keys)
	return keys[:min(n, len(keys))]
}
