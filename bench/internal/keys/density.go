package keys

import (
	"iter"
	"math"
	"math/rand/v2"
)

// A Density says which indexes of a range are present, and where the absent ones are.
type Density struct {
	Name      string
	Doc       string  // what the name means, in a few words
	part      float64 // of the indexes that are present; if 1, the absent ones follow the range
	isPresent func(seed, index uint64) bool
}

// Densities lists the densities of shapes that have an order.
var Densities = []Density{
	{"alternating", "every second key of a range is present", 0.5,
		func(_, index uint64) bool { return index%2 == 0 }},
	atRandom("63%", 0.63, "63 % of a range of keys is present, as after n writes of random ones of "+
		"n keys (LevelDB's db_bench fillrandom); absent ones lie between"),
	atRandom("10%", 0.10, "a random tenth of a range of keys is present; absent ones lie between"),
	{"beyond", "all keys of a range are present; absent ones follow it", 1, everything},
}

// Anywhere is the density of unordered shapes, whose keys are anywhere.
var Anywhere = Density{"any", "keys are anywhere", 1, everything}

func everything(_, _ uint64) bool { return true }

func atRandom(name string, part float64, doc string) Density {
	limit := uint64(part * (1 << 53))
	return Density{name, doc, part,
		func(seed, index uint64) bool { return Mix(seed+index)>>11 < limit }}
}

// DensityName returns d's name.
func DensityName(d Density) string { return d.Name }

// Between reports whether the absent indexes are between the present ones.
func (d Density) Between() bool { return d.part < 1 }

// A Range is the indexes of one filter or of one database.
type Range struct {
	Density Density
	Seed    uint64 // says which indexes are present
	Start   uint64
	N       int    // present indexes
	End     uint64 // follows the last present index, once Present has yielded it
}

// Present yields the N present indexes in order.
func (r *Range) Present() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, left := r.Start, r.N; left > 0; i++ {
			if !r.Density.isPresent(r.Seed, i) {
				continue
			}
			left--
			r.End = i + 1
			if !yield(i) {
				return
			}
		}
	}
}

// Absent yields absent indexes, at most limit, and none twice: those in the range, or a selection
// from all over it, or those that follow it. Present must have yielded all of its indexes before.
func (r *Range) Absent(limit int, rng *rand.Rand) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		span := r.End - r.Start
		switch {
		case !r.Density.Between():
			for i := range uint64(limit) {
				if !yield(r.End + i) {
					return
				}
			}
		case span-uint64(r.N) <= uint64(limit):
			for i := r.Start; i < r.End; i++ {
				if !r.Density.isPresent(r.Seed, i) && !yield(i) {
					return
				}
			}
		default:
			step := uint64(float64(span) / math.Phi)
			for gcd(step, span) > 1 {
				step++
			}
			// A step without a common divisor comes back after span steps.
			for at := rng.Uint64N(span); limit > 0; at = (at + step) % span {
				i := r.Start + at
				if r.Density.isPresent(r.Seed, i) {
					continue
				}
				if !yield(i) {
					return
				}
				limit--
			}
		}
	}
}

func gcd(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
