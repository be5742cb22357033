package ratebench

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
)

// perFilter returns how many absent keys a filter of n keys is asked at most: so many that they
// take longer than building it, if Queries allows.
func (c *Config) perFilter(n int) int {
	return max(1, min(max(512, 4*n), c.Queries/leastFilters(n)))
}

// leastFilters returns how many filters of n keys are built at least. Large ones differ little from
// each other, and take long.
func leastFilters(n int) int { return max(2, min(10, 2_000_000/n)) }

// measure measures a cell, of all kinds and bits per key at once: they share the keys.
func (c *Config) measure(ctx context.Context, cell Cell) (records []Record, err error) {
	samplers, err := c.samplers(cell)
	if err != nil {
		return nil, err
	}
	name := fnv.New64a()
	name.Write([]byte(cell.String()))
	rng := rand.New(rand.NewPCG(uint64(c.Seed), name.Sum64()))
	asked := 0
	for filters := 0; filters < leastFilters(cell.N) || asked < c.Queries; filters++ {
		r := &keys.Range{Density: cell.Density, Seed: rng.Uint64(), N: cell.N}
		if filters > 0 && !cell.Shape.Unordered {
			r.Start = rng.Uint64N(keys.Indexes / 2) // the first range is a counter's, from 0 on
		}
		keySeed := rng.Uint64()
		present := cell.Shape.Keys(r.Present(), keySeed)
		slices.SortFunc(present, bytes.Compare) // as an engine adds them
		absent := cell.Shape.Keys(r.Absent(c.perFilter(cell.N), rng), keySeed)
		asked += len(absent)
		for _, s := range samplers {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := s.sample(present, absent); err != nil {
				return nil, fmt.Errorf("%v, %v bits per key: %s: %w", cell, s.Bits, s.Kind, err)
			}
		}
	}
	for _, s := range samplers {
		s.summarize()
		records = append(records, s.Record)
	}
	return records, nil
}

// samplers returns one for each kind that is measured at each number of bits per key.
func (c *Config) samplers(cell Cell) (all []*sampler, err error) {
	for _, bits := range c.Bits {
		for _, k := range c.Kinds {
			if k.Only != 0 && k.Only != bits {
				continue
			}
			p, err := k.New(bits)
			if err != nil {
				return nil, err
			}
			s := &sampler{kind: k, policy: p, builder: p.NewBuilder(), Record: Record{
				Kind: k.Name, Shape: cell.Shape.Name, Density: cell.Density.Name, N: cell.N,
				Bits: bits,
			}}
			all = append(all, s)
		}
	}
	return all, nil
}

// A sampler measures one kind in a cell.
type sampler struct {
	Record
	kind    kind.Kind
	policy  policy.Policy
	builder policy.Builder
	rate    Rate
	filter  []byte
}

// sample builds a filter of the present keys, which it must not lose, and adds its answers to the
// absent keys to the rate.
func (s *sampler) sample(present, absent [][]byte) error {
	for _, key := range present {
		s.builder.Add(key)
	}
	s.filter = s.builder.Finish(s.filter[:0])
	if n := s.count(present); n < len(present) {
		return fmt.Errorf("%w: %d of %d", ErrLostKey, len(present)-n, len(present))
	}
	if info, err := policy.Parse(s.filter); err == nil && s.kind.Encoding != policy.EncodingUnknown {
		s.K = info.K
	}
	s.rate.add(len(absent), s.count(absent))
	s.FilterBytes += (float64(len(s.filter)) - s.FilterBytes) / float64(s.rate.Filters)
	return nil
}

// summarize fills in what was measured.
func (s *sampler) summarize() {
	s.Filters, s.Queries, s.FalsePositives = s.rate.Filters, s.rate.Queries, s.rate.FalsePositives
	s.FPR = s.rate.Mean()
	s.Low, s.High = s.rate.Interval(z95)
	if bound, ok := s.kind.Bound(s.Bits, s.N); ok {
		s.Bound, s.Excess = bound, (s.FPR-bound)/s.rate.standardError()
	}
	if p, ok := s.policy.(interface{ FPP(n int) float64 }); ok {
		s.FPP = p.FPP(s.N)
	}
}

// count returns how many of the keys the filter may contain.
func (s *sampler) count(keys [][]byte) (n int) {
	for _, key := range keys {
		if s.policy.MayContain(s.filter, key) {
			n++
		}
	}
	return n
}
