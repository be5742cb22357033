package ratebench

import (
	"errors"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/bench/filterbench"
	"github.com/levelbloom/levelbloom/bench/kind"
)

// ErrBound is the error of an encoding that breaks its bounds.
var ErrBound = errors.New("a bound is broken")

// A limit is what a rate is held to.
type limit struct {
	rate  float64
	error float64 // its standard error, if it is measured
	both  bool    // the rate is not to be lower either
}

// fuseLimit returns the limit of a binary fuse filter: an absent key passes if its fingerprint happens to be what it is compared
// with.
func fuseLimit(width int) limit { return limit{rate: math.Ldexp(1, -width), both: true} }

// A verdict says how far beyond a limit a rate is.
type verdict struct {
	of    string // which rate it is
	rate  Rate
	limit limit
}

// error returns the standard error of the rate's difference from the limit.
func (v verdict) error() float64 {
	if v.limit.both {
		// The true rate is known, and that the answers are independent. One false positive more than there should be is for
		// those who expect few, which scatter more than a normal distribution.
		queries := float64(v.rate.Queries)
		return math.Sqrt(queries*v.limit.rate*(1-v.limit.rate)+1) / queries
	}
	return math.Hypot(v.rate.Error(), v.limit.error)
}

// excess returns by how many standard errors the rate is above the limit, or off it.
func (v verdict) excess() float64 {
	above := v.rate.Mean() - v.limit.rate
	if v.limit.both {
		above = math.Abs(above)
	}
	if above == 0 {
		return 0
	}
	return above / v.error()
}

// tolerance is how many standard errors the rate may be beyond its limit. Of a thousand cells whose true rates are their limits,
// one or two are further above than 3. Of a limit to both sides it is expected that all true rates are that, so it must be more:
// one in 60,000 is further off than 5, or fewer, the fewest where many false positives are expected.
func (v verdict) tolerance() float64 {
	if v.limit.both {
		return 5
	}
	return 3
}

func (v verdict) broken() bool { return v.excess() > v.tolerance() }

// exactly returns the rate that it is to be, or 0 if it may be lower than the limit.
func (v verdict) exactly() float64 {
	if v.limit.both {
		return v.limit.rate
	}
	return 0
}

// vagueness is the standard error as a part of the limit.
func (v verdict) vagueness() float64 { return v.error() / v.limit.rate }

// verdicts returns those of an encoding, and how many cells have no limit. Limits that rates are to be, rather than not to be
// above, are those of each cell and, since many cells know more than one, of each row.
func (r *Report) verdicts(encoding int) (all []verdict, unlimited int) {
	for _, row := range r.rows() {
		var together Rate
		for _, result := range row {
			limits := r.limits(encoding, result)
			for _, l := range limits {
				all = append(all, verdict{result.Cell.String(), result.Rates[encoding], l})
			}
			if len(limits) == 0 {
				unlimited++
			}
			together.merge(result.Rates[encoding])
		}
		if k := row.kinds(encoding); len(row) > 1 && len(k) == 1 && k[0].Encoding == kind.Fuse {
			of := fmt.Sprintf("all cells, %s keys, %v bits per key", filterbench.FormatN(row[0].N), row[0].Bits)
			all = append(all, verdict{of, together, fuseLimit(k[0].Width)})
		}
	}
	return all, unlimited
}

// limits returns what an encoding with bounds is held to in a cell.
func (r *Report) limits(encoding int, result Result) (all []limit) {
	e := r.Encodings[encoding]
	if e.Bounds == nil {
		return nil
	}
	if k := result.Kinds[encoding]; k.Encoding == kind.Fuse {
		return []limit{fuseLimit(k.Width)}
	}
	if bound, ok := e.Bounds[result.Bits]; ok && result.N >= manyKeys && result.N <= mostKeys {
		all = append(all, limit{rate: bound})
	}
	if exact, ok := r.exactRandom(result.N, result.Bits); ok {
		all = append(all, limit{rate: exact.Mean(), error: exact.Error()})
	}
	return all
}

// isReference reports whether Exact's rate in the cell is a limit for other cells: with few keys, whose blocked filter is short, and
// not divided into lines.
func (c Cell) isReference() bool {
	const short = 1280 // bytes
	return c.Shape.Name == random && c.N >= fewKeys && c.N <= manyKeys && float64(c.N)*c.Bits <= 8*short
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
