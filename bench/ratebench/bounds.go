package ratebench

import (
	"errors"
	"math"

	"github.com/levelbloom/levelbloom/policy"
)

// ErrBound is the error of an encoding that breaks its bounds.
var ErrBound = errors.New("a bound is broken")

// An Encoding makes and reads filters.
type Encoding struct {
	Name        string
	Description string
	New         func(bitsPerKey float64) (policy.Policy, error)
	// Bounds holds the highest rates that the encoding promises, by bits per key, for manyKeys to mostKeys. With bounds it
	// promises too that for fewKeys to manyKeys it is no worse than Exact with random keys.
	Bounds map[float64]float64
}

const (
	fewKeys  = 8
	manyKeys = 500
	mostKeys = 10_000_000
)

// Exact and its rate for random keys are what small filters of other encodings are compared with.
const (
	Exact  = "exact"
	random = "random"
)

// Encodings lists all encodings.
var Encodings = []Encoding{
	{Exact, "LevelDB's Bloom filter", func(bits float64) (policy.Policy, error) { return policy.NewBloom(bits) }, nil},
	{"blocked", "blocked Bloom", func(bits float64) (policy.Policy, error) { return policy.NewBlockedBloom(bits) },
		map[float64]float64{10: 0.0100, 16: 0.0009, 20: 0.00022}},
}

// tolerance is how many standard errors above its bound a rate may be. Of a thousand cells whose true rates are their bounds,
// one or two are further above.
const tolerance = 3

// A limit is the highest rate that a cell may have.
type limit struct {
	rate  float64
	error float64 // its standard error, if it is measured
}

// A verdict says how far above a limit a rate is.
type verdict struct {
	result Result
	rate   Rate
	limit  limit
}

// excess returns by how many standard errors, the rate's and the limit's together, the rate is above the limit.
func (v verdict) excess() float64 {
	above := v.rate.Mean() - v.limit.rate
	if above == 0 {
		return 0
	}
	return above / math.Hypot(v.rate.Error(), v.limit.error)
}

func (v verdict) broken() bool { return v.excess() > tolerance }

// verdicts returns those of an encoding, and how many cells have no limit.
func (r *Report) verdicts(encoding int) (all []verdict, unlimited int) {
	for _, result := range r.Results {
		limits := r.limits(encoding, result.Cell)
		for _, l := range limits {
			all = append(all, verdict{result, result.Rates[encoding], l})
		}
		if len(limits) == 0 {
			unlimited++
		}
	}
	return all, unlimited
}

// limits returns what an encoding with bounds is held to in a cell.
func (r *Report) limits(encoding int, cell Cell) (all []limit) {
	e := r.Encodings[encoding]
	if e.Bounds == nil {
		return nil
	}
	if bound, ok := e.Bounds[cell.Bits]; ok && cell.N >= manyKeys && cell.N <= mostKeys {
		all = append(all, limit{rate: bound})
	}
	if exact, ok := r.exactRandom(cell.N, cell.Bits); ok {
		all = append(all, limit{exact.Mean(), exact.Error()})
	}
	return all
}

// isReference reports whether Exact's rate in the cell is a limit for other cells.
func (c Cell) isReference() bool {
	return c.Shape.Name == random && c.N >= fewKeys && c.N <= manyKeys
}

// exactRandom returns the rate of Exact with random keys, if it is a limit and was measured.
func (r *Report) exactRandom(n int, bits float64) (rate Rate, ok bool) {
	for _, result := range r.Results {
		if !result.isReference() || result.N != n || result.Bits != bits {
			continue
		}
		for i, e := range r.Encodings {
			if e.Name == Exact {
				return result.Rates[i], true
			}
		}
	}
	return Rate{}, false
}

// Err returns an error that wraps ErrBound if any encoding breaks its bounds.
func (r *Report) Err() error {
	for i := range r.Encodings {
		all, _ := r.verdicts(i)
		for _, v := range all {
			if v.broken() {
				return ErrBound
			}
		}
	}
	return nil
}
