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
	maxN        = 150_000
	trials      = 10 // their seeds are 1 to trials
	enoughFound = 500
	maxLookups  = 1_000_000
)

// A point is what filters of n random keys answer to random absent keys. Their policy gives them
// the size for n keys, as it does in an engine: so none is too full.
type point struct {
	Computed float64   `json:"computed"` // the FPP of package policy
	Textbook float64   `json:"textbook"`
	Trials   []float64 `json:"trials"` // rates of false positives
}

func (c *choice) policy() (*policy.Policy, error) {
	if c.N < 1 || c.N > maxN {
		return nil, fmt.Errorf("%d keys in a filter: pass 1 to %d", c.N, maxN)
	}
	if c.Bits > maxBits {
		return nil, fmt.Errorf("%v bits per key: pass at most %d", c.Bits, maxBits)
	}
	if !slices.ContainsFunc(kinds, func(k kind) bool { return k.Name == c.Kind }) {
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
	a := &point{Computed: p.FPP(c.N), Textbook: textbook(p, c)}
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

// textbook returns (1 - e^(-kn/m))^k for p's filter; instead of a ribbon filter, for LevelDB's with
// as many bits per key.
func textbook(p *policy.Policy, c *choice) float64 {
	if c.Kind == "ribbon" {
		p, _ = policy.NewBloom(c.Bits) // takes what ribbon takes
	}
	filter := p.AppendFilter(nil, [][]byte{{}})
	k, m := float64(filter[len(filter)-1]), 8*float64(p.FilterSize(c.N)-1)
	return math.Pow(1-math.Exp(-k*float64(c.N)/m), k)
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
