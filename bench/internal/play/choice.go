package play

import (
	"context"
	"fmt"
	"slices"
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

// compute calls f with the policy of a choice, unless the page has left or asks for another one.
func (c *choice) compute(ctx context.Context, f func(*policy.Policy) error) error {
	if c.N < 1 || c.N > maxN {
		return fmt.Errorf("%d keys in a filter: pass 1 to %d", c.N, maxN)
	}
	if c.Bits > maxBits {
		return fmt.Errorf("%v bits per key: pass at most %d", c.Bits, maxBits)
	}
	if !slices.Contains([]string{"bloom", "bloom+tuned", "ribbon"}, c.Kind) {
		return fmt.Errorf("no kind %q", c.Kind)
	}
	p, err := filters.PolicyOf(c.Kind, c.Bits)
	if err != nil {
		return err
	}
	busy.Lock()
	defer busy.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f(p)
}

// rate returns the computed rate of false positives.
func rate(ctx context.Context, c *choice) (rate float64, err error) {
	err = c.compute(ctx, func(p *policy.Policy) error {
		rate = p.FPP(c.N)
		return nil
	})
	return rate, err
}

// bitsFor returns the bits per key with which filters of as many keys have a rate of 1 %.
func bitsFor(ctx context.Context, c *choice) (bits float64, err error) {
	err = c.compute(ctx, func(*policy.Policy) (err error) {
		bits, err = policy.BitsFor(c.Kind, c.N, 0.01)
		return err
	})
	return bits, err
}
