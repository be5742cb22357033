package ratebench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// ErrBound is the error of a kind that breaks its bounds.
var ErrBound = errors.New("a false-positive rate breaks its bound")

// tolerance is how many standard errors a rate may be above its bound. A run has thousands of
// rates, and some are three above by chance.
const tolerance = 5

// A verdict compares a result with what its kind promises.
type verdict struct {
	Result
	bound float64
}

// excess returns by how many standard errors the rate is above the bound.
func (v verdict) excess() float64 {
	return (v.Rate.Mean() - v.bound) / v.Rate.standardError()
}

func (v verdict) broken() bool { return v.excess() > tolerance }

func (v verdict) String() string {
	low, high := v.Rate.Interval(z95)
	return fmt.Sprintf("%v, %v bits per key: %s %% [%s to %s], bound %s %%, %.1f standard errors",
		v.Cell, v.Bits, percent(v.Rate.Mean()), percent(low), percent(high), percent(v.bound),
		v.excess())
}

// An Outcome is what Run measured.
type Outcome struct {
	*Config
	Results []Result
}

// verdicts returns those of a kind: all, and the broken bounds.
func (o *Outcome) verdicts(k kind.Kind) (all, broken []verdict) {
	for _, r := range o.Results {
		if r.Kind.Name != k.Name {
			continue
		}
		if bound, ok := k.Bound(r.Bits, r.N); ok {
			all = append(all, verdict{r, bound})
		}
	}
	slices.SortFunc(all, func(a, b verdict) int { return cmp.Compare(b.excess(), a.excess()) })
	i := slices.IndexFunc(all, func(v verdict) bool { return !v.broken() })
	if i < 0 {
		i = len(all)
	}
	return all, all[:i]
}

// Err returns an error that wraps ErrBound and names the worst cell if a kind breaks its bounds.
func (o *Outcome) Err() error {
	var errs []error
	for _, k := range o.Kinds {
		if _, broken := o.verdicts(k); len(broken) > 0 {
			errs = append(errs, fmt.Errorf("%w: %s: %d of the rates, the worst: %s",
				ErrBound, k.Name, len(broken), broken[0]))
		}
	}
	return errors.Join(errs...)
}
