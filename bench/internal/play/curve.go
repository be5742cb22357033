package play

import (
	"context"
	"fmt"
	"math"

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
	Lookups  int       `json:"lookups"` // of each trial
	Trials   []float64 `json:"trials"`  // their rates of false positives
}

func (c *choice) policy() (*policy.Policy, error) {
	if c.N < 1 || c.N > maxN {
		return nil, fmt.Errorf("%d keys in a filter: pass 1 to %d", c.N, maxN)
	}
	return policy.FromString(fmt.Sprintf("%s:%v", c.Kind, c.Bits))
}

// measure returns the point of a choice. It is always the same one.
func measure(ctx context.Context, c *choice) (*point, error) {
	p, err := c.policy()
	if err != nil {
		return nil, err
	}
	busy.Lock()
	defer busy.Unlock()
	if ctx.Err() != nil { // the page has asked for another one since
		return nil, ctx.Err()
	}
	a := &point{Computed: p.FPP(c.N), Textbook: textbook(p, c)}
	a.Lookups = int(min(maxLookups, math.Ceil(enoughFound/a.Computed)))
	for seed := range uint64(trials) {
		a.Trials = append(a.Trials, trial(p, c.N, a.Lookups, seed+1))
	}
	return a, nil
}

// trial builds a filter of n keys, and returns the rate of false positives among absent ones.
func trial(p *policy.Policy, n, lookups int, seed uint64) float64 {
	var key []byte
	number := func(i int) []byte {
		key = random.Append(key[:0], seed, uint64(i))
		return key
	}
	b := p.NewBuilder()
	for i := range n {
		b.Add(number(i))
	}
	filter, found := b.Finish(nil), 0
	for i := range lookups {
		if policy.MayContain(filter, number(n+i)) {
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
