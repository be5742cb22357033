package filterbench

// material is what cells of the same keys share: the present keys, and the filters that are asked.
type material struct {
	materialOf
	keys    [][]byte
	filters map[string][][]byte // by encoding
}

// materialOf says which keys they are: so many filters of n keys.
type materialOf struct{ filters, n, length int }

// Filters that are asked at random take as much together as in RocksDB's filter_bench, and so many keys are in different ones.
const (
	manyBytes = 200 << 20
	manyKeys  = 640_000
)

// material returns what the cell needs.
func (c Cell) material() materialOf {
	filters := 1
	switch c.Work {
	case Many: // the rest are copies
		filters = max(1, manyKeys/c.N)
	case Build: // as many as make a turn long enough to time
		filters = (numQueries + c.N - 1) / c.N
	}
	return materialOf{filters, c.N, c.Length}
}

func newMaterial(of materialOf) *material {
	keys := makeKeys(of.filters*of.n, of.length, func(i int) uint64 { return uint64(i) })
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
