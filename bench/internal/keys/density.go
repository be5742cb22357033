package keys

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A Density says which indexes of a range are present, and where the absent ones are.
type Density struct {
	Name        string
	Description string
	part        float64 // of the indexes that are present; if 1, the absent ones follow the range
	isPresent   func(seed, index uint64) bool
}

// Densities lists the densities that `bench rates` measures by default.
var Densities = []Density{
	{"alternating", "every second index of a range is present, the others are absent", 0.5,
		func(_, index uint64) bool { return index%2 == 0 }},
	atRandom("63%", 0.63),
	atRandom("10%", 0.10),
	atRandom("1%", 0.01),
	{"beyond", "all indexes of a range are present, those that follow are absent", 1, everything},
}

// Anywhere is the density of unordered shapes, whose keys are anywhere.
var Anywhere = Density{"any", "", 1, everything}

func everything(_, _ uint64) bool { return true }

func atRandom(name string, part float64) Density {
	limit := uint64(part * (1 << 53))
	return Density{name, "this part of a range, at random, is present, the rest is absent", part,
		func(seed, index uint64) bool { return Mix(seed+index)>>11 < limit }}
}

// DensityName returns d's name.
func DensityName(d Density) string { return d.Name }

// ParseDensity returns the density of a name in Densities, or of a percentage such as 63%.
func ParseDensity(name string) (Density, error) {
	for _, d := range Densities {
		if d.Name == name {
			return d, nil
		}
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(name, "%"), 64)
	if err != nil || !strings.HasSuffix(name, "%") || !(percent >= 0.01 && percent <= 99) {
		return Density{}, fmt.Errorf("%q: pass alternating, beyond, or 0.01%% to 99%%", name)
	}
	return atRandom(name, percent/100), nil
}

// Between reports whether the absent indexes are between the present ones.
func (d Density) Between() bool { return d.part < 1 }

// Reach returns more indexes than a range of n present and the given number of absent ones takes:
// the number of present indexes is binomial.
func (d Density) Reach(n, absent int) uint64 {
	reach := (float64(n) + 10*math.Sqrt(float64(n))) / d.part
	if !d.Between() {
		reach = float64(n) + float64(absent)
	}
	return uint64(reach)
}

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
