package ratebench

import (
	"iter"
	"math"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/bench/keyset"
)

// A Density says which of the indexes in a filter's range are present, and where the absent ones lie.
type Density struct {
	Name        string
	Description string
	part        float64 // of the indexes that are present; if it is 1, absent ones lie beyond the present ones
	isPresent   func(seed, index uint64) bool
}

// Densities lists all densities.
var Densities = []Density{
	{"alternating", "exactly every second index of a range is present, the others are absent", 0.5, func(_, index uint64) bool { return index%2 == 0 }},
	atRandom("63%", 0.63),
	atRandom("10%", 0.10),
	atRandom("1%", 0.01),
	{"beyond", "all indexes of a range are present, and those that follow absent", 1, everything},
}

// anywhere is the density of shapes whose keys lie anywhere.
var anywhere = Density{"any", "", 1, everything}

func everything(_, _ uint64) bool { return true }

func atRandom(name string, part float64) Density {
	limit := uint64(part * (1 << 53))
	return Density{name, "so many indexes of a range, at random, are present, the others are absent", part, func(seed, index uint64) bool {
		return keyset.Mix(seed+index)>>11 < limit
	}}
}

// reach is more indexes than a filter of n keys and its absent ones can take: the number of present ones in a range is
// binomial.
func (d Density) reach(n, queries int) uint64 {
	reach := (float64(n) + 10*math.Sqrt(float64(n))) / d.part
	if d.part == 1 {
		reach = float64(n + queries)
	}
	return uint64(reach)
}

// A keyRange is the range of indexes of one filter.
type keyRange struct {
	density Density
	seed    uint64 // of what is present
	start   uint64
	n       int
	end     uint64 // is behind the last present index, when present has yielded it
}

// present yields the n present indexes from start on.
func (r *keyRange) present() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, left := r.start, r.n; left > 0; i++ {
			if !r.density.isPresent(r.seed, i) {
				continue
			}
			left--
			r.end = i + 1
			if !yield(i) {
				return
			}
		}
	}
}

// absent yields absent indexes, at most limit: the next ones beyond the range, or those in it; of more than limit a selection
// from all over the range. None comes twice: its answers would not be independent. REQUIRES: present has yielded all.
func (r *keyRange) absent(limit int, rng *rand.Rand) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		span := r.end - r.start
		switch {
		case r.density.part == 1:
			for i := range uint64(limit) {
				if !yield(r.end + i) {
					return
				}
			}
		case span-uint64(r.n) <= uint64(limit):
			for i := r.start; i < r.end; i++ {
				if !r.density.isPresent(r.seed, i) && !yield(i) {
					return
				}
			}
		default:
			step := uint64(float64(span) / math.Phi)
			for gcd(step, span) > 1 {
				step++
			}
			for at := rng.Uint64N(span); limit > 0; at = (at + step) % span { // which takes span steps to come back
				i := r.start + at
				if r.density.isPresent(r.seed, i) {
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
