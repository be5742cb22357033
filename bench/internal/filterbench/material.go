package filterbench

import "github.com/levelbloom/levelbloom/bench/internal/keys"

// material is what cells of the same keys share: the present keys, and the filters that are asked.
type material struct {
	materialOf
	keys    [][]byte
	filters map[string][][]byte // by encoding
}

// materialOf says which keys they are: so many filters of n keys.
type materialOf struct{ filters, n, length int }

// manyKeys is the number of keys in different filters of Many; the other filters are copies.
const manyKeys = 640_000

// material returns what the cell needs.
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
	keys := newKeys(of.filters*of.n, of.length, func(i int) uint64 { return uint64(i) })
	return &material{of, keys, map[string][][]byte{}}
}

// filtersOf returns the filters of the contestant's encoding.
func (m *material) filtersOf(c Contestant) ([][]byte, error) {
	if filters := m.filters[c.Encoding()]; filters != nil {
		return filters, nil
	}
	if err := c.SetKeys(m.keys); err != nil {
		return nil, err
	}
	filters, err := c.BuildFilters(m.n)
	if err != nil {
		return nil, err
	}
	m.filters[c.Encoding()] = filters
	return filters, nil
}

// newKeys returns n keys, one behind the other in memory.
func newKeys(n, length int, index func(i int) uint64) [][]byte {
	arena := make([]byte, 0, n*length)
	all := make([][]byte, n)
	for i := range all {
		start := len(arena)
		arena = keys.AppendRandom(arena, length, index(i))
		all[i] = arena[start:len(arena):len(arena)]
	}
	return all
}
