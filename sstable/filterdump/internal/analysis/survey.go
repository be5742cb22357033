package analysis

import (
	"bytes"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// maxKeySample is how many keys the shapes are learned from.
const maxKeySample = 1 << 14

// A survey is what one pass over the entries of a table finds out. Its memory does not depend on
// the number of entries, except for 8 bytes per filter.
type survey struct {
	verifier *verifier // nil: the entries cannot be compared

	entries, keys, unfiltered int64
	perFilter                 []int64 // keys that each filter was built from
	once                      bool    // a repeated key was added once
	bytewise                  bool    // the keys ascend in bytewise order
	first, last               []byte  // in bytewise order, whatever the table's order is

	sample reservoir[[]byte]
	pairs  reservoir[neighbors] // with a byte string of their length between them

	previous []byte
}

// newSurvey returns a survey of the entries of a table with these filters, which may be nil.
// LevelDB adds every version of a key to the filter of a window. Pebble adds a key, or the part of
// it that its comparer's Split returns, only if it differs from the one before.
func newSurvey(rng *rand.Rand, f *tables.Filters, pairs int) *survey {
	s := &survey{
		bytewise: true,
		sample:   reservoir[[]byte]{rng: rng, limit: maxKeySample},
		pairs:    reservoir[neighbors]{rng: rng, limit: pairs},
	}
	if f != nil {
		s.perFilter, s.once = make([]int64, len(f.Each)), !f.PerWindow
	}
	return s
}

func (s *survey) add(filter int, key []byte) error {
	s.entries++
	isNew := s.compare(key)
	if filter < 0 {
		s.unfiltered++
		return nil
	}
	if isNew || !s.once {
		s.perFilter[filter]++
	}
	if s.verifier != nil {
		s.verifier.add(filter, key)
	}
	return nil
}

// compare compares key with the one before, and reports whether it differs.
func (s *survey) compare(key []byte) (isNew bool) {
	if s.keys > 0 {
		switch order := bytes.Compare(s.previous, key); {
		case order == 0:
			return false
		case order > 0:
			s.bytewise = false
		default:
			pair := neighbors{s.previous, key}
			if max(len(key), len(s.previous)) <= maxSampledLen && !pair.adjacent() {
				s.pairs.offer(pair.clone)
			}
		}
	}
	if s.keys == 0 || bytes.Compare(key, s.first) < 0 {
		s.first = bytes.Clone(key)
	}
	if s.keys == 0 || bytes.Compare(key, s.last) > 0 {
		s.last = append(s.last[:0], key...)
	}
	s.keys++
	if len(key) <= maxSampledLen {
		s.sample.offer(func() []byte { return bytes.Clone(key) })
	}
	s.previous = append(s.previous[:0], key...)
	return true
}
