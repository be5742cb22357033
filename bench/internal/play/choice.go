package play

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/policy"
)

// A choice is a kind of filter, and how many keys each filter has.
type choice struct {
	Kind string  `json:"kind"`
	Bits float64 `json:"bits"` // per key
	N    int     `json:"n"`
}

const (
	maxN        = 100_000
	trials      = 10 // their seeds are 1 to trials
	enoughFound = 500
	maxLookups  = 1_000_000
)

// A point is what filters of n random keys answer to random absent keys. Their policy gives them
// the size for n keys, as it does in an engine: so none is too full.
type point struct {
	Computed float64   `json:"computed"` // the FPP of package policy
	Trials   []float64 `json:"trials"`   // rates of false positives
}

func (c *choice) policy() (*policy.Policy, error) {
	if c.N < 1 || c.N > maxN {
		return nil, fmt.Errorf("%d keys in a filter: pass 1 to %d", c.N, maxN)
	}
	if c.Bits > maxBits {
		return nil, fmt.Errorf("%v bits per key: pass at most %d", c.Bits, maxBits)
	}
	if !slices.Contains([]string{"bloom", "bloom+tuned", "ribbon"}, c.Kind) {
		return nil, fmt.Errorf("no kind %q", c.Kind)
	}
	return filters.PolicyOf(c.Kind, c.Bits)
}

// measure returns the point of a choice. It is always the same one.
func measure(ctx context.Context, c *choice) (*point, error) {
	p, err := c.policy()
	if err != nil {
		return nil, err
	}
	busy.Lock()
	defer busy.Unlock()
	a := &point{Computed: p.FPP(c.N)}
	for seed := range uint64(trials) {
		if ctx.Err() != nil { // the page has asked for another one since
			return nil, ctx.Err()
		}
		a.Trials = append(a.Trials, trial(p, c.N, lookups(a.Computed), seed+1))
	}
	return a, nil
}

// lookups returns how many lookups a trial has.
func lookups(fpp float64) int { return int(min(maxLookups, math.Ceil(enoughFound/fpp))) }

// trial builds a filter of n keys, and returns the rate of false positives among absent ones.
func trial(p *policy.Policy, n, lookups int, seed uint64) float64 {
	var key []byte
	b := p.NewBuilder()
	for i := range uint64(n) {
		key = random.Append(key[:0], seed, i)
		b.Add(key)
	}
	filter, found := b.Finish(nil), 0
	for i := range uint64(lookups) {
		key = random.Append(key[:0], seed, uint64(n)+i)
		if policy.MayContain(filter, key) {
			found++
		}
	}
	return float64(found) / float64(lookups)
}

var random = keys.Shapes[0] // 16 random bytes

// bitsFor returns the bits per key with which filters of as many keys have 1 % of false positives.
func bitsFor(ctx context.Context, c *choice) (float64, error) {
	if c.N > maxN {
		return 0, fmt.Errorf("%d keys in a filter: pass at most %d", c.N, maxN)
	}
	busy.Lock()
	defer busy.Unlock()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return policy.BitsFor(c.Kind, c.N, 0.01)
}

// compare lets filters take turns with goleveldb's own of as many bits per key, rounded up.
func compare(ctx context.Context, c *choice) ([]filters.Speed, error) {
	if _, err := c.policy(); err != nil {
		return nil, err
	}
	busy.Lock()
	defer busy.Unlock()
	base, _ := filters.FromString("goleveldb", c.Bits) // takes what policies take
	chosen, _ := filters.FromString(c.Kind, c.Bits)
	return filters.CompareSpeeds(ctx, []filters.Kind{base, chosen}, []keys.Count{keys.Count(c.N)},
		func(int, int, string) {})
}
