package play

import (
	"fmt"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// A material is the keys of a question.
type material struct {
	stored          [][]byte
	isStored        map[string]bool
	random, between [][]byte // absent
}

func newMaterial(q *question) (*material, error) {
	m := &material{isStored: map[string]bool{}}
	if !(q.Bits > 0 && q.Bits <= maxBits) {
		return nil, fmt.Errorf("%v bits per key: pass a number above 0, at most %d", q.Bits,
			maxBits)
	}
	if q.N < 0 || q.N > maxKeys || len(q.Keys) > maxKeys-q.N {
		return nil, fmt.Errorf("%d keys of a shape and %d others: pass at most %d in all",
			q.N, len(q.Keys), maxKeys)
	}
	for _, key := range append(q.Keys, q.Ask) {
		if len(key) > maxKeyBytes {
			return nil, fmt.Errorf("a key of %d bytes: pass at most %d", len(key), maxKeyBytes)
		}
	}
	for _, key := range q.Keys {
		m.stored = append(m.stored, []byte(key))
	}
	if q.N > 0 {
		if err := m.addShape(q.Shape, q.N); err != nil {
			return nil, err
		}
	}
	m.stored = slices.DeleteFunc(m.stored, func(key []byte) bool {
		again := m.isStored[string(key)]
		m.isStored[string(key)] = true
		return again
	})
	for i := range uint64(asked) {
		m.random = append(m.random, fmt.Appendf(nil, "%08x", uint32(keys.Mix(i))))
	}
	isStored := func(key []byte) bool { return m.isStored[string(key)] }
	m.random = slices.DeleteFunc(m.random, isStored)
	m.between = slices.DeleteFunc(m.between, isStored)
	return m, nil
}

// shapes returns the shapes whose keys are text, as the page shows them.
func shapes() []keys.Shape {
	return slices.DeleteFunc(slices.Clone(keys.Shapes), func(s keys.Shape) bool {
		return strings.HasPrefix(s.Example(), "0x")
	})
}

// addShape adds n keys of a shape. If it has an order, they are 63 % of a range.
func (m *material) addShape(name string, n int) error {
	all := shapes()
	i := slices.IndexFunc(all, func(s keys.Shape) bool { return s.Name == name })
	if i < 0 {
		return fmt.Errorf("no shape %q", name)
	}
	source := all[i].Sources(keys.Densities[1])[0]
	set := source.Set(n, asked, seed)
	m.stored = append(m.stored, set.Present...)
	if source.Density.Between() {
		m.between = set.Between
	}
	return nil
}
