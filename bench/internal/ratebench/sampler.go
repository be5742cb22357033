package ratebench

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/policy"
)

const chunkKeys = 1024 // keys that are made before they are used

// measure measures cells that differ in their bits per key alone.
func (c *Config) measure(ctx context.Context, cells []Cell) ([]Result, error) {
	s, err := newSampler(ctx, c.Kinds, cells)
	if err != nil {
		return nil, err
	}
	name := fnv.New64a()
	name.Write([]byte(s.keysOf()))
	rng := rand.New(rand.NewPCG(uint64(c.Seed), name.Sum64()))

	perFilter := c.perFilter(s.N)
	starts := s.Shape.Indexes - s.Density.Reach(s.N, perFilter) + 1
	for filters := 1; len(s.open) > 0; filters++ {
		keySeed, presentSeed, start := rng.Uint64(), rng.Uint64(), rng.Uint64N(starts)
		if filters == 1 || s.Shape.Seeded {
			start = 0
		}
		r := &keys.Range{Density: s.Density, Seed: presentSeed, Start: start, N: s.N}
		if err := s.build(r, keySeed); err != nil {
			return nil, err
		}
		if err := s.ask(r.Absent(perFilter, rng), keySeed); err != nil {
			return nil, err
		}
		s.open = slices.DeleteFunc(s.open, func(m *measured) bool {
			return filters >= leastFilters(s.N) && s.asked >= c.queries(m.Cell)
		})
	}
	var results []Result
	for _, m := range s.all {
		results = append(results, m.Result)
	}
	return results, nil
}

// A sampler builds filters of cells that differ in their bits per key alone, and asks them.
type sampler struct {
	Cell  // one of them
	ctx   context.Context
	kinds []kind.Kind
	all   []*measured
	open  []*measured // those that need more filters
	asked int         // absent keys

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

func newSampler(ctx context.Context, kinds []kind.Kind, cells []Cell) (*sampler, error) {
	s := &sampler{Cell: cells[0], ctx: ctx, kinds: kinds, may: make([]bool, chunkKeys)}
	for _, cell := range cells {
		n := len(kinds)
		m := &measured{
			Result:  Result{cell, make([]Rate, n), make([]int, n), make([]bool, n)},
			filters: make([][]byte, n), found: make([]int, n),
		}
		for _, k := range kinds {
			p, err := k.New(cell.Bits)
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
		s.memory = s.Shape.Append(s.memory, seed, index)
		s.keys = append(s.keys, s.memory[start:])
	}
	use()
	return context.Cause(s.ctx)
}

// build builds the filters of a range, and asks them for the last chunk of keys: none may be lost.
func (s *sampler) build(r *keys.Range, keySeed uint64) error {
	err := s.chunks(r.Present(), keySeed, func() {
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
				return fmt.Errorf("%v: %s: %w: of the filter of %d keys from index %d on",
					m.Cell, s.kinds[i].Name, ErrLostKey, r.N, r.Start)
			}
			info, err := policy.Parse(m.filters[i])
			if err != nil || info.Encoding != s.kinds[i].Encoding {
				return fmt.Errorf("%v: %s: its filter is of the encoding %q (%v)",
					m.Cell, s.kinds[i].Name, info.Encoding, err)
			}
			m.Sizes[i], m.Whole[i] = len(m.filters[i]), info.LineBytes == len(info.Payload)
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
		for _, m := range s.open {
			for i := range m.filters {
				m.found[i] += s.count(m, i)
			}
		}
	})
	s.asked += asked
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
	if batch, ok := p.(policy.BatchReader); ok {
		batch.MayContainMany(filter, s.keys, s.may[:len(s.keys)])
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
