package play

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/policy"
)

// A material is the keys of a question.
type material struct {
	stored          [][]byte
	isStored        map[string]bool
	random, between [][]byte // absent
	ask             []byte   // nil if no key is looked up
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
	for _, s := range q.Keys {
		key, err := parseKey(s)
		if err != nil {
			return nil, err
		}
		m.store(key)
	}
	if q.N > 0 {
		if err := m.addShape(q.Shape, q.N); err != nil {
			return nil, err
		}
	}
	for i := range uint64(asked) {
		m.random = append(m.random, keys.AppendRandom(nil, 1, i))
	}
	absent := func(key []byte) bool { return m.isStored[string(key)] }
	m.random = slices.DeleteFunc(m.random, absent)
	m.between = slices.DeleteFunc(m.between, absent)
	var err error
	if q.Ask != "" {
		m.ask, err = parseKey(q.Ask)
	}
	return m, err
}

// store adds a key unless it is there.
func (m *material) store(key []byte) {
	if !m.isStored[string(key)] {
		m.isStored[string(key)] = true
		m.stored = append(m.stored, key)
	}
}

// addShape adds n keys of a shape. If it has an order, they are 63 % of a range.
func (m *material) addShape(name string, n int) error {
	i := slices.IndexFunc(keys.Shapes, func(s keys.Shape) bool { return s.Name == name })
	if i < 0 {
		return fmt.Errorf("no shape %q", name)
	}
	shape := keys.Shapes[i]
	density := shape.Densities(keys.Densities[1:2])[0]
	set, err := keys.NewSet(shape, density, n, asked, seed)
	if err != nil {
		return err
	}
	for i := range n {
		m.store(set.AppendPresent(nil, i))
	}
	if density.Between() {
		m.between = set.Between(asked)
	}
	return nil
}

// examples finds keys that show what a filter does: absent keys between the stored ones if there
// are some, and words.
func (m *material) examples(f *filter) {
	const words, enough = 100_000, 8
	for i := range len(m.between) + words {
		var key []byte
		if i < len(m.between) {
			key = m.between[i]
		} else if key = fmt.Appendf(nil, "word%d", i-len(m.between)); m.isStored[string(key)] {
			continue
		}
		if policy.MayContain(f.Bytes, key) {
			f.FalsePositives = append(f.FalsePositives, formatKey(key))
		} else if f.Absent == "" {
			f.Absent = formatKey(key)
		}
		if f.Absent != "" && len(f.FalsePositives) == enough {
			return
		}
	}
}
