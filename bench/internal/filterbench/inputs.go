package filterbench

import (
	"bytes"
	"math/rand"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

const (
	numQueries = 1 << 16 // in a turn: more than a branch predictor can learn

	// firstAbsent is the index of the first absent key. Present keys have the indexes from 0 on.
	firstAbsent = 1 << 40

	// manyKeys is the number of keys in different filters of Many; the other filters are copies.
	manyKeys = 640_000

	// large is a number of keys of which the filter leaves nothing in the caches that the next one
	// to be built would find there.
	large = 1_000_000
)

// inputs are the keys of a cell, which speed.cc makes too, and the filters that are asked for them.
type inputs struct {
	Cell
	memory int // bytes of filters that Many asks

	*material
	queries [][]byte // in random order, one behind the other in memory
	index   []int    // of the filter that each query asks
	lookups map[string]*lookups
}

// material is what cells of the same keys share: filters of n present keys.
type material struct {
	materialOf
	present [][]byte            // those of each filter sorted, as an engine adds them
	filters map[string][][]byte // by encoding
}

type materialOf struct{ filters, n, length int }

// material says which keys the cell needs.
func (c Cell) material() materialOf {
	filters := 1
	switch c.Work {
	case Many:
		filters = max(1, manyKeys/c.N)
	case Build: // enough to make a turn long enough to time
		filters = (numQueries + c.N - 1) / c.N
	}
	return materialOf{filters, c.N, c.Length}
}

func newMaterial(of materialOf) *material {
	unsorted := newKeys(of.filters*of.n, of.length, func(i int) uint64 { return uint64(i) })
	for part := range slices.Chunk(unsorted, of.n) {
		slices.SortFunc(part, bytes.Compare)
	}
	arena := bytes.Join(unsorted, nil) // one behind the other in memory again
	return &material{of, slices.Collect(slices.Chunk(arena, of.length)), map[string][][]byte{}}
}

// newKeys returns n keys, one behind the other in memory.
func newKeys(n, length int, index func(i int) uint64) [][]byte {
	arena := make([]byte, 0, n*length)
	for i := range n {
		arena = keys.AppendRandom(arena, length, index(i))
	}
	return slices.Collect(slices.Chunk(arena, length))
}

// newInputs returns the inputs of a cell. Its queries ask for each present key as often as for
// another, or for absent keys that are all different.
func newInputs(cell Cell, memory int, m *material, rng *rand.Rand) *inputs {
	in := &inputs{Cell: cell, material: m, lookups: map[string]*lookups{}}
	if cell.Work == Many {
		in.memory = memory
	}
	if cell.Work == Build {
		return in
	}
	all := uint64(m.materialOf.filters) * uint64(m.n)
	indexes := make([]uint64, numQueries)
	for at, i := range rng.Perm(numQueries) {
		switch {
		case cell.Mix == Miss:
			indexes[at] = firstAbsent + uint64(i)
		case all > numQueries:
			indexes[at] = uint64(i) * all / numQueries // from all over
		default:
			indexes[at] = uint64(i) % all
		}
		if cell.Mix == Miss {
			f := keys.Mix(indexes[at]) % uint64(m.materialOf.filters)
			in.index = append(in.index, int(f))
		} else {
			in.index = append(in.index, int(indexes[at]/uint64(m.n)))
		}
	}
	in.queries = newKeys(numQueries, m.length, func(i int) uint64 { return indexes[i] })
	return in
}

// lookupsIn returns the lookups of the queries in the filters of the contestant's encoding.
func (in *inputs) lookupsIn(c *inProcess) *lookups {
	encoding := c.encoding
	if in.filters[encoding] == nil {
		c.buildAll(in, func(filter []byte) {
			in.filters[encoding] = append(in.filters[encoding], bytes.Clone(filter))
		})
	}
	if in.lookups[encoding] == nil {
		in.lookups[encoding] = newLookups(in.index, in.filters[encoding], in.memory)
	}
	return in.lookups[encoding]
}

// lookups says which filters are asked. There may be copies of the filters, of which every pass
// asks other ones: no pass finds in the caches what another one left there.
type lookups struct {
	index            []int
	filters          [][]byte // copy c of filter f is number c*distinct + f
	distinct, copies int
	asked            [][]byte // in the last pass
	pass             int
}

// newLookups returns lookups in as many copies of the filters as memory has room for.
func newLookups(index []int, filters [][]byte, memory int) *lookups {
	size := 0
	for _, f := range filters {
		size += len(f)
	}
	l := &lookups{index: index, filters: filters, distinct: len(filters)}
	l.copies = max(1, memory/size)
	if l.copies > 1 {
		l.filters = nil
		for range l.copies { // each in memory of its own, where an engine's cache might have it
			for _, f := range filters {
				l.filters = append(l.filters, slices.Clone(f))
			}
		}
	}
	return l
}

// nextPass returns the filter that each query asks in the next pass.
func (l *lookups) nextPass() [][]byte {
	if l.copies == 1 && l.asked != nil {
		return l.asked
	}
	l.asked = l.asked[:0]
	for i, f := range l.index {
		c := int(keys.Mix(uint64(i)+uint64(l.pass)<<32) % uint64(l.copies))
		l.asked = append(l.asked, l.filters[c*l.distinct+f])
	}
	l.pass++
	return l.asked
}
