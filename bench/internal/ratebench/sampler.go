package ratebench

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// perFilter returns how many absent keys are looked up in a filter of n keys at most: enough to
// take longer than building it, if Queries allows.
func (c *Config) perFilter(n int) int {
	return max(1, min(max(512, 4*n), c.Queries/leastFilters(n)))
}

// leastFilters returns how many filters of n keys are built at least. Large ones differ little from
// each other, and take long.
func leastFilters(n int) int { return max(2, min(10, 2_000_000/n)) }

// measure measures a cell, of all kinds at once: they share the keys.
func (c *Config) measure(ctx context.Context, cell Cell) (records []Record, err error) {
	var samplers []*sampler
	for _, k := range c.Kinds {
		samplers = append(samplers, &sampler{Kind: k, filter: k.New()})
	}
	name := fnv.New64a()
	name.Write([]byte(cell.String()))
	rng := rand.New(rand.NewPCG(c.Seed, name.Sum64()))
	queries := 0
	for filters := 0; filters < leastFilters(cell.N) || queries < c.Queries; filters++ {
		present, absent := cell.Draw(rng, filters == 0, cell.N, c.perFilter(cell.N))
		slices.SortFunc(present, bytes.Compare) // as an engine adds them
		queries += len(absent)
		for _, s := range samplers {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := s.sample(present, absent); err != nil {
				return nil, fmt.Errorf("%v, %v bits per key: %s: %w", cell, s.Bits, s.Name, err)
			}
		}
	}
	for _, s := range samplers {
		records = append(records, s.record(cell))
	}
	return records, nil
}

// A sampler measures one kind in a cell.
type sampler struct {
	filterbench.Kind
	filter *filterbench.Filter
	sums
	bytes int // of all filters
}

// sample builds a filter of the present keys, which it must not lose, and adds its answers to the
// absent keys to the rate.
func (s *sampler) sample(present, absent [][]byte) error {
	filter := s.filter.Build(present)
	if n := s.filter.Count(filter, present); n < len(present) {
		return fmt.Errorf("%w: %d of %d", keys.ErrLost, len(present)-n, len(present))
	}
	s.add(len(absent), s.filter.Count(filter, absent))
	s.bytes += len(filter)
	return nil
}

// record sums up what was measured.
func (s *sampler) record(cell Cell) Record {
	r := Record{
		Kind: s.Name, Shape: cell.Shape.Name, Density: cell.Density.Name, N: cell.N, Bits: s.Bits,
		FilterBytes: float64(s.bytes) / float64(s.filters), Filters: int(s.filters),
		Queries: int(s.queries), FalsePositives: int(s.positives), FPR: s.mean(),
	}
	if s.Promised != nil {
		r.Bound = s.Promised(cell.N)
	}
	r.Low, r.High = wilson(r.FPR, s.effective())
	return r
}
