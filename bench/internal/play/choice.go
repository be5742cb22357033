package play

import (
	"context"
	"fmt"
	"sync"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
)

// A choice is a kind of filter, and how many keys each filter has.
type choice struct {
	Kind string  `json:"kind"`
	Bits float64 `json:"bits"` // per key
	N    int     `json:"n"`
}

const maxN = 100_000

// busy is locked while a reply computes for long.
var busy sync.Mutex

// compute returns f of the policy of a choice, unless the page has left or asks for another one.
func (c *choice) compute(ctx context.Context, f func(*policy.Policy) (float64, error)) (
	float64, error) {
	if c.N < 1 || c.N > maxN {
		return 0, fmt.Errorf("%d keys in a filter: pass 1 to %d", c.N, maxN)
	}
	if c.Bits > maxBits {
		return 0, fmt.Errorf("%v bits per key: pass at most %d", c.Bits, maxBits)
	}
	p, err := filters.PolicyOf(c.Kind, c.Bits)
	if err != nil {
		return 0, err
	}
	busy.Lock()
	defer busy.Unlock()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return f(p)
}

// rate returns the computed rate of false positives.
func rate(ctx context.Context, c *choice) (float64, error) {
	return c.compute(ctx, func(p *policy.Policy) (float64, error) { return p.FPP(c.N), nil })
}

// bitsFor returns the bits per key with which filters of as many keys have a rate of 1 %.
func bitsFor(ctx context.Context, c *choice) (float64, error) {
	return c.compute(ctx, func(*policy.Policy) (float64, error) {
		return policy.BitsFor(c.Kind, c.N, 0.01)
	})
}
