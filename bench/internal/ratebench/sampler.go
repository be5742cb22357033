package ratebench

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
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
func (c *Config) measure(ctx context.Context, cell Cell) (results []Result, err error) {
	var samplers []*sampler
	for _, bits := range c.Bits {
		for _, k := range c.Kinds {
			p, err := k.New(bits)
			if err != nil {
				return nil, err
			}
			samplers = append(samplers, &sampler{
				Result: Result{Cell: cell, Kind: k, Bits: bits}, policy: p, builder: p.NewBuilder(),
			})
		}
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
				return nil, fmt.Errorf("%v, %v bits per key: %s: %w", cell, s.Bits, s.Kind.Name,
					err)
			}
		}
	}
	for _, s := range samplers {
		results = append(results, s.Result)
	}
	return results, nil
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
	Result
	policy  policy.Policy
	builder policy.Builder
	filter  []byte
	may     []bool // the answers of a batch
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
	info, err := policy.Parse(s.filter)
	if e := info.Encoding; err != nil || e != s.Kind.Encoding && e != s.Kind.Smallest {
		return fmt.Errorf("its filter is of the encoding %q (%v)", info.Encoding, err)
	}
	s.K, s.BitBytes, s.Encoding = info.K, len(info.Payload), info.Encoding
	s.Rate.add(len(absent), s.count(absent))
	s.Size += (float64(len(s.filter)) - s.Size) / float64(s.Rate.Filters)
	return nil
}

// count returns how many of the keys the filter may contain.
func (s *sampler) count(keys [][]byte) (n int) {
	if !policy.Compatible(s.policy, new(policy.Bloom)) {
		for _, key := range keys {
			if s.policy.MayContain(s.filter, key) {
				n++
			}
		}
		return n
	}
	s.may = slices.Grow(s.may[:0], len(keys))[:len(keys)]
	policy.MayContainMany(s.filter, keys, s.may)
	for _, may := range s.may {
		if may {
			n++
		}
	}
	return n
}
