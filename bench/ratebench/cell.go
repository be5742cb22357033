package ratebench

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/policy"
)

const (
	chunkKeys = 1024 // keys that are made before they are used
	shortKey  = 64   // Of keys of more bytes, only so many are asked as have the bytes of Config.Queries keys of these.
)

// measure measures one cell.
func (c *Config) measure(ctx context.Context, cell Cell) (Result, error) {
	result := Result{cell, make([]Rate, len(c.Encodings)), make([]int, len(c.Encodings))}
	s, err := newSampler(ctx, c.Encodings, cell)
	if err != nil {
		return result, err
	}
	name := fnv.New64a()
	name.Write([]byte(cell.String()))
	rng := rand.New(rand.NewPCG(uint64(c.Seed), name.Sum64()))

	queries := c.queriesPerFilter(cell.N)
	starts := cell.Shape.indexes - cell.Density.reach(cell.N, queries) + 1
	for first := true; first || !c.enough(result, s.bytes); first = false {
		keySeed, presentSeed, start := rng.Uint64(), rng.Uint64(), rng.Uint64N(starts)
		if first || cell.Shape.seeded {
			start = 0
		}
		r := &keyRange{density: cell.Density, seed: presentSeed, start: start, n: cell.N}
		if err := s.build(r, keySeed); err != nil {
			return result, err
		}
		asked, found, err := s.ask(r.absent(queries, rng), keySeed)
		if err != nil {
			return result, err
		}
		for i := range result.Rates {
			result.Rates[i].add(asked, found[i])
			result.Sizes[i] = len(s.filters[i])
		}
	}
	return result, nil
}

// leastFilters returns how many filters of n keys are made at least. Large ones differ little from each other, and take long.
func leastFilters(n int) int { return max(2, min(10, 4_000_000/n)) }

// queriesPerFilter returns how many absent keys a filter of n keys is asked at most: so many that they take longer than to
// make it, if the limit of all queries does not forbid it.
func (c *Config) queriesPerFilter(n int) int {
	return max(1, min(max(512, 4*n), c.Queries/leastFilters(n)))
}

// The cells that others are compared with are asked referenceQueries times as often, for an error of the root of that.
const referenceQueries = 9

// enough reports whether the result needs no more filters. bytes is the length of the absent keys that were asked.
func (c *Config) enough(r Result, bytes int) bool {
	if r.Rates[0].Filters < leastFilters(r.N) {
		return false
	}
	mostQueries, mostError := c.Queries, c.Error
	if r.isReference() {
		mostQueries, mostError = mostQueries*referenceQueries, mostError/math.Sqrt(referenceQueries)
	}
	if r.Rates[0].Queries >= mostQueries || bytes >= shortKey*mostQueries {
		return true
	}
	for _, rate := range r.Rates {
		if rate.FalsePositives == 0 || rate.Error() > mostError*rate.Mean() {
			return false
		}
	}
	return true
}

// A sampler makes filters of a cell and asks them.
type sampler struct {
	ctx      context.Context
	cell     Cell
	policies []policy.Policy
	builders []policy.Builder
	filters  [][]byte
	bytes    int // of the absent keys that were asked

	// A chunk of keys, and the answers to them.
	keys   [][]byte
	memory []byte
	may    []bool
}

func newSampler(ctx context.Context, encodings []Encoding, cell Cell) (*sampler, error) {
	s := &sampler{ctx: ctx, cell: cell, filters: make([][]byte, len(encodings)), may: make([]bool, chunkKeys)}
	for _, e := range encodings {
		p, err := e.New(cell.Bits)
		if err != nil {
			return nil, err
		}
		s.policies = append(s.policies, p)
		s.builders = append(s.builders, p.NewBuilder())
	}
	return s, nil
}

// chunks makes the keys of the indexes and passes them to use, some at a time.
func (s *sampler) chunks(indexes iter.Seq[uint64], seed uint64, use func()) error {
	s.keys, s.memory = s.keys[:0], s.memory[:0]
	for index := range indexes {
		if len(s.keys) == chunkKeys {
			use()
			if s.ctx.Err() != nil {
				return context.Cause(s.ctx)
			}
			s.keys, s.memory = s.keys[:0], s.memory[:0]
		}
		start := len(s.memory)
		s.memory = s.cell.Shape.appendKey(s.memory, seed, index)
		s.keys = append(s.keys, s.memory[start:])
	}
	use()
	return context.Cause(s.ctx)
}

// build makes the filters of a range, and asks them for the last chunk of keys: none may be lost.
func (s *sampler) build(r *keyRange, keySeed uint64) error {
	err := s.chunks(r.present(), keySeed, func() {
		for _, b := range s.builders {
			for _, key := range s.keys {
				b.Add(key)
			}
		}
	})
	if err != nil {
		return err
	}
	for i, b := range s.builders {
		s.filters[i] = b.Finish(s.filters[i][:0])
		if s.count(i) < len(s.keys) {
			return fmt.Errorf("%w: of the filter of %d keys from index %d on", measure.ErrLostKey, r.n, r.start)
		}
	}
	return nil
}

// ask asks the filters for absent keys. It returns how many, and how many of them each filter may contain.
func (s *sampler) ask(absent iter.Seq[uint64], keySeed uint64) (asked int, found []int, err error) {
	found = make([]int, len(s.filters))
	err = s.chunks(absent, keySeed, func() {
		asked += len(s.keys)
		s.bytes += len(s.memory)
		for i := range s.filters {
			found[i] += s.count(i)
		}
	})
	return asked, found, err
}

// count returns how many keys of the chunk filter i may contain.
func (s *sampler) count(i int) (n int) {
	p, filter := s.policies[i], s.filters[i]
	if many, ok := p.(policy.ManyReader); ok {
		many.MayContainMany(filter, s.keys, s.may)
	} else {
		for j, key := range s.keys {
			s.may[j] = p.MayContain(filter, key)
		}
	}
	for _, may := range s.may[:len(s.keys)] {
		if may {
			n++
		}
	}
	return n
}
