package ratebench

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/policy"
)

const (
	chunkKeys = 1024 // keys that are made before they are used
	shortKey  = 64   // Of keys of more bytes, only so many are asked as have the bytes of Config.Queries keys of these.
)

// measure measures cells that differ in their bits per key alone. Each has the same keys, and the same rates, whatever others
// are measured with it.
func (c *Config) measure(ctx context.Context, cells []Cell) ([]Result, error) {
	s, err := newSampler(ctx, c.Encodings, cells)
	if err != nil {
		return nil, err
	}
	name := fnv.New64a()
	name.Write([]byte(s.keysOf()))
	rng := rand.New(rand.NewPCG(uint64(c.Seed), name.Sum64()))

	queries := c.queriesPerFilter(s.N)
	starts := s.Shape.indexes - s.Density.reach(s.N, queries) + 1
	for first := true; len(s.open) > 0; first = false {
		keySeed, presentSeed, start := rng.Uint64(), rng.Uint64(), rng.Uint64N(starts)
		if first || s.Shape.seeded {
			start = 0
		}
		r := &keyRange{density: s.Density, seed: presentSeed, start: start, n: s.N}
		if err := s.build(r, keySeed); err != nil {
			return nil, err
		}
		if err := s.ask(r.absent(queries, rng), keySeed); err != nil {
			return nil, err
		}
		s.open = slices.DeleteFunc(s.open, func(m *measured) bool { return c.enough(m.Result, s.bytes) })
	}
	return s.results(), nil
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

// A sampler makes filters of cells that differ in their bits per key alone, and asks them.
type sampler struct {
	Cell  // one of them
	ctx   context.Context
	all   []*measured
	open  []*measured // those of which more filters are wanted
	bytes int         // of the absent keys that were asked

	// A chunk of keys, and the answers to them.
	keys   [][]byte
	memory []byte
	may    []bool
}

// measured is a cell, and what is known of it.
type measured struct {
	Result
	policies []policy.Policy
	builders []policy.Builder
	filters  [][]byte
	found    []int // how many absent keys each of the filters may contain
}

func newSampler(ctx context.Context, encodings []Encoding, cells []Cell) (*sampler, error) {
	s := &sampler{Cell: cells[0], ctx: ctx, may: make([]bool, chunkKeys)}
	for _, cell := range cells {
		n := len(encodings)
		m := &measured{
			Result:  Result{cell, make([]Rate, n), make([]int, n), make([]kind.Kind, n)},
			filters: make([][]byte, n), found: make([]int, n),
		}
		for _, e := range encodings {
			p, err := e.New(cell.Bits)
			if err != nil {
				return nil, err
			}
			m.policies = append(m.policies, p)
			m.builders = append(m.builders, p.NewBuilder())
		}
		s.all = append(s.all, m)
	}
	s.open = slices.Clone(s.all)
	return s, nil
}

func (s *sampler) results() (all []Result) {
	for _, m := range s.all {
		all = append(all, m.Result)
	}
	return all
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
		s.memory = s.Shape.appendKey(s.memory, seed, index)
		s.keys = append(s.keys, s.memory[start:])
	}
	use()
	return context.Cause(s.ctx)
}

// build makes the filters of a range, and asks them for the last chunk of keys: none may be lost.
func (s *sampler) build(r *keyRange, keySeed uint64) error {
	err := s.chunks(r.present(), keySeed, func() {
		for _, m := range s.open {
			for _, b := range m.builders {
				for _, key := range s.keys {
					b.Add(key)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	for _, m := range s.open {
		for i, b := range m.builders {
			m.filters[i] = b.Finish(m.filters[i][:0])
			if s.count(m, i) < len(s.keys) {
				return fmt.Errorf("%v: %w: of the filter of %d keys from index %d on", m.Cell, measure.ErrLostKey, r.n, r.start)
			}
			// Builders that choose do so by the number of keys, and so alike.
			k := kind.Of(m.filters[i])
			if m.Rates[i].Filters > 0 && k != m.Kinds[i] {
				return fmt.Errorf("%v: filters of two kinds: %v and, of keys from index %d on, %v", m.Cell, m.Kinds[i], r.start, k)
			}
			m.Kinds[i], m.Sizes[i] = k, len(m.filters[i])
		}
	}
	return nil
}

// ask asks the filters for absent keys, and adds the answers to the rates.
func (s *sampler) ask(absent iter.Seq[uint64], keySeed uint64) error {
	asked := 0
	for _, m := range s.open {
		clear(m.found)
	}
	err := s.chunks(absent, keySeed, func() {
		asked += len(s.keys)
		s.bytes += len(s.memory)
		for _, m := range s.open {
			for i := range m.filters {
				m.found[i] += s.count(m, i)
			}
		}
	})
	for _, m := range s.open {
		for i := range m.Rates {
			m.Rates[i].add(asked, m.found[i])
		}
	}
	return err
}

// count returns how many keys of the chunk filter i of a cell may contain.
func (s *sampler) count(m *measured, i int) (n int) {
	p, filter := m.policies[i], m.filters[i]
	if many, ok := p.(policy.BatchReader); ok {
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
