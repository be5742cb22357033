package filterbench

import (
	"fmt"
	"math/rand"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

const (
	numQueries = 1 << 16 // in a pass: more than a branch predictor can learn
	keysAtOnce = 1024    // in a call of a contestant that takes many at once

	// firstAbsent is the index of the first absent key. Present keys have the indexes from 0 on.
	firstAbsent = 1 << 40
)

// Queries are lookups of keys in filters.
type Queries struct {
	Keys    [][]byte // one behind the other in memory
	Hits    bool     // whether the keys are in their filters; all are, or none
	Index   []uint32 // of the filter
	Filters [][]byte // different ones
	Copies  int      // of each filter; queries ask any of them, and another one in each pass
	AtOnce  bool     // contestants that can take keysAtOnce keys of a filter at once

	array [][]byte // all copies of the filters: copy c of filter f is at c*len(Filters)+f
	asked [][]byte // the filter of each query, if there are no copies
	pass  int
}

// newQueries returns queries without filters for the cell: each present key as often as another, or
// absent keys that are all different; in random order.
func newQueries(cell Cell, of materialOf, rng *rand.Rand) *Queries {
	q := &Queries{
		Hits: cell.Mix == Hit, Index: make([]uint32, numQueries), AtOnce: cell.Work == Batch,
	}
	indexes := make([]uint64, numQueries)
	all := uint64(of.filters) * uint64(of.n)
	for i := range uint64(numQueries) {
		switch {
		case !q.Hits:
			indexes[i] = firstAbsent + i
			q.Index[i] = uint32(rng.Intn(of.filters))
			continue
		case all > numQueries:
			indexes[i] = i * all / numQueries // from all over
		default:
			indexes[i] = i % all
		}
		q.Index[i] = uint32(indexes[i] / uint64(of.n))
	}
	rng.Shuffle(numQueries, func(i, j int) {
		indexes[i], indexes[j] = indexes[j], indexes[i]
		q.Index[i], q.Index[j] = q.Index[j], q.Index[i]
	})
	q.Keys = newKeys(numQueries, of.length, func(i int) uint64 { return indexes[i] })
	return q
}

// in returns the same queries in other filters, with so many copies that they take manyBytes.
func (q *Queries) in(filters [][]byte, manyBytes int) *Queries {
	asked := *q
	size := 0
	for _, f := range filters {
		size += len(f)
	}
	asked.Filters, asked.Copies = filters, max(1, manyBytes/size)
	if asked.Copies == 1 {
		asked.array = filters
		asked.asked = asked.filtersAsked(0)
		return &asked
	}
	// Each copy is in memory of its own, where a storage engine's cache might have it.
	for range asked.Copies {
		for _, f := range filters {
			asked.array = append(asked.array, slices.Clone(f))
		}
	}
	return &asked
}

// filtersAsked returns the filter that each query asks in a pass.
func (q *Queries) filtersAsked(pass int) [][]byte {
	if q.asked != nil {
		return q.asked
	}
	asked := make([][]byte, len(q.Keys))
	for i, f := range q.Index {
		asked[i] = q.array[copyOf(i, pass, q.Copies)*len(q.Filters)+int(f)]
	}
	return asked
}

// copyOf returns which copy of its filter query i asks in a pass.
func copyOf(i, pass, copies int) int {
	return int(keys.Mix(uint64(i)+uint64(pass)<<32) % uint64(copies))
}

// nextPasses returns the number of the first of n passes that nobody has had.
func (q *Queries) nextPasses(n int) int {
	q.pass += n
	return q.pass - n
}

// check looks for present keys that were lost, and compares the answers with those of another
// contestant of the same encoding, if there are any.
func (q *Queries) check(answers, other []bool) error {
	if len(answers) != len(q.Keys) {
		return fmt.Errorf("%w: %d answers to %d queries", ErrWrong, len(answers), len(q.Keys))
	}
	for i, may := range answers {
		switch {
		case q.Hits && !may:
			return fmt.Errorf("%w: it lost the key %x", ErrWrong, q.Keys[i])
		case other != nil && may != other[i]:
			return fmt.Errorf("%w: %v for the key %x, where another contestant says %v of the "+
				"same filter", ErrWrong, may, q.Keys[i], other[i])
		}
	}
	return nil
}
