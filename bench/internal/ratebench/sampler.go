package ratebench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/sizing"
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
		if cell.Shape.Suffix > 0 {
			r.N *= keys.Versions
		}
		if filters > 0 && !cell.Shape.Unordered {
			r.Start = rng.Uint64N(keys.Indexes / 2) // the first range is a counter's, from 0 on
		}
		keySeed := rng.Uint64()
		present := sorted(cell.prefixes(r.Present(), keySeed)) // as an engine adds them
		absent := cell.prefixes(r.Absent(c.perFilter(cell.N), rng), keySeed)
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
		if c.Against != Shapes {
			err = errors.Join(err, s.compute())
		}
		records = append(records, s.Record)
	}
	return records, err
}

// samplers returns one for each kind that is measured at each number of bits per key.
func (c *Config) samplers(cell Cell) (all []*sampler, err error) {
	for _, bits := range c.Bits {
		for _, k := range c.Kinds {
			if k.Only != 0 && k.Only != bits || c.Against == Fill && !k.HasRoom() {
				continue
			}
			p, err := k.New(bits)
			if err != nil {
				return nil, err
			}
			s := &sampler{kind: k, policy: p, builder: p.NewBuilder(), Record: Record{
				Kind: k.Name, Shape: cell.Shape.Name, Density: cell.Density.Name, N: cell.N,
				Capacity: cell.N, Bits: bits,
			}}
			if c.Against == Fill {
				s.Capacity, s.builder = c.Capacity, newSizedBuilder(p, c.Capacity)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// prefixes returns the keys of the indexes as an engine that knows the shape has them in its
// filters.
func (c Cell) prefixes(indexes iter.Seq[uint64], seed uint64) [][]byte {
	all := c.Shape.Keys(indexes, seed)
	if c.Shape.Suffix == 0 {
		return all
	}
	for i, key := range all {
		all[i] = key[:len(key)-c.Shape.Suffix]
	}
	return sorted(all)
}

// sorted sorts keys, and leaves out repetitions.
func sorted(keys [][]byte) [][]byte {
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// A sampler measures one kind in a cell.
type sampler struct {
	Record
	kind     kind.Kind
	policy   policy.Policy
	builder  policy.Builder
	rate     Rate
	filter   []byte
	bitBytes int // of the last filter, without its trailer
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
		s.K, s.bitBytes = info.K, len(info.Payload)
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
}

// compute fills in what formulas say.
func (s *sampler) compute() (err error) {
	p, ok := s.policy.(interface{ FPP(n int) float64 })
	switch {
	case !ok: // an engine's own
		return nil
	case s.Capacity != s.N:
		s.FPP, err = sizing.Filled(s.policy, s.Capacity, s.N)
	default:
		s.FPP = p.FPP(s.N)
	}
	if s.kind.Encoding == policy.EncodingBloom && err == nil {
		s.Textbook, err = sizing.Textbook(s.N, 8*s.bitBytes, s.K)
	}
	return err
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
