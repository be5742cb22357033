package ratebench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// ErrBound is the error of a kind that breaks its bounds.
var ErrBound = errors.New("a false-positive rate breaks its bound")

// The numbers of keys that bounds are for.
const (
	fewKeys  = 8
	manyKeys = 500
	mostKeys = 10_000_000
)

// A limit is what a rate may be at most.
type limit struct {
	rate  float64
	error float64 // its standard error, if it is measured
}

// A verdict compares a rate with its limit.
type verdict struct {
	cell  Cell
	rate  Rate
	limit limit
}

// tolerance is how many standard errors a rate may be above its limit. Of a thousand cells whose
// true rates are their limits, one or two are further above.
const tolerance = 3

// excess returns by how many standard errors the rate is above the limit.
func (v verdict) excess() float64 {
	low, _ := v.rate.Interval(1)
	mean := v.rate.Mean()
	return (mean - v.limit.rate) / math.Hypot(mean-low, v.limit.error)
}

func (v verdict) broken() bool { return v.excess() > tolerance }

// An Outcome is what Run measured.
type Outcome struct {
	*Config
	Results []Result
}

// verdicts returns those of a kind, and how many cells have no limit.
func (o *Outcome) verdicts(i int) (all []verdict, unlimited int) {
	for _, result := range o.Results {
		limits := o.limits(i, result)
		if len(limits) == 0 {
			unlimited++
		}
		for _, l := range limits {
			all = append(all, verdict{result.Cell, result.Rates[i], l})
		}
	}
	return all, unlimited
}

// limits returns what kind i promises for a cell.
func (o *Outcome) limits(i int, result Result) (all []limit) {
	k := o.Kinds[i]
	if bound, ok := k.Bounds[result.Bits]; ok && result.N >= manyKeys && result.N <= mostKeys {
		all = append(all, limit{rate: bound})
	}
	if k.SmallAsExact && result.Whole[i] && result.N >= fewKeys && result.N <= manyKeys {
		if exact, ok := o.exactRandom(result.N, result.Bits); ok {
			low, _ := exact.Interval(1)
			all = append(all, limit{exact.Mean(), exact.Mean() - low})
		}
	}
	return all
}

// lowest returns the lowest limit of kind i in a cell, or a NaN.
func (o *Outcome) lowest(i int, result Result) float64 {
	limits := o.limits(i, result)
	if len(limits) == 0 {
		return math.NaN()
	}
	return slices.MinFunc(limits, func(a, b limit) int { return cmp.Compare(a.rate, b.rate) }).rate
}

// exactRandom returns the rate of exact filters with random keys, if it was measured.
func (o *Outcome) exactRandom(n int, bits float64) (Rate, bool) {
	exact := slices.IndexFunc(o.Kinds, func(k kind.Kind) bool { return k.Name == kind.Exact.Name })
	for _, result := range o.Results {
		if exact >= 0 && result.reference() && result.N == n && result.Bits == bits {
			return result.Rates[exact], true
		}
	}
	return Rate{}, false
}

// Err returns an error that wraps ErrBound and names the worst cell if a kind breaks its bounds.
func (o *Outcome) Err() error {
	var errs []error
	for i, k := range o.Kinds {
		all, _ := o.verdicts(i)
		all = slices.DeleteFunc(all, func(v verdict) bool { return !v.broken() })
		if len(all) > 0 {
			errs = append(errs, fmt.Errorf("%w: %s: %d of the rates, the worst: %s",
				ErrBound, k.Name, len(all), furthest(all)))
		}
	}
	return errors.Join(errs...)
}

func furthest(all []verdict) verdict {
	return slices.MaxFunc(
		all,
		func(a, b verdict) int { return cmp.Compare(a.excess(), b.excess()) },
	)
}

func (v verdict) String() string {
	low, high := v.rate.Interval(z95)
	return fmt.Sprintf("%v: %s %% [%s to %s], bound %s %%, %.1f standard errors", v.cell,
		percent(v.rate.Mean()), percent(low), percent(high), percent(v.limit.rate), v.excess())
}
