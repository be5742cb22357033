package keys

import "math/rand/v2"

// A Density says which indexes of a range are present, and where the absent ones are.
type Density struct {
	Name      string
	part      float64 // of the indexes that are present; if 1, the absent ones follow the range
	isPresent func(seed, index uint64) bool
}

// Densities lists the densities of shapes that have an order.
var Densities = []Density{
	{"alternating", 0.5, func(_, index uint64) bool { return index%2 == 0 }},
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
