package analysis

import (
	"bytes"
	"encoding/hex"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

const maxLost = 10 // lost keys in a report

// A survey is what one pass over the entries of a table finds out. Its memory does not depend on
// the number of entries, except for the sample and 8 bytes per filter.
type survey struct {
	Report
	compared *tables.Filters // with the entries that they cover; nil: that cannot be

	perFilter []int64 // keys that each filter was built from, or would be
	once      bool    // a repeated key was added once
	none      bool    // there are no filters

	previous []byte
	sample   *Sample // nil: none is taken
}

// newSurvey returns a survey of the entries of a table. LevelDB adds every version of a key to the
// filter of a window. Pebble adds a key, or the part of it that its comparer's Split returns, only
// if it differs from the one before.
func newSurvey(info *tables.Info, sample *Sample) *survey {
	f := info.Filters
	s := &survey{sample: sample, none: f == nil}
	if s.none {
		return s
	}
	s.perFilter, s.once = make([]int64, len(f.Each)), f.Layout == tables.PerTable
	if f.Reader != nil && info.Unverified == "" {
		s.compared = f
	}
	return s
}

// add takes the next entry, and the filter that covers it, or would.
func (s *survey) add(filter int, key []byte) {
	s.Entries++
	isNew := s.Keys == 0 || !bytes.Equal(s.previous, key)
	if isNew {
		s.addKey(key)
	}
	if filter < 0 || s.none {
		s.Unfiltered++
	}
	if filter < 0 {
		return
	}
	for len(s.perFilter) <= filter {
		s.perFilter = append(s.perFilter, 0)
	}
	if isNew || !s.once {
		s.perFilter[filter]++
	}
	if c := s.compared; c != nil && !c.Reader.MayContain(c.Each[filter], key) {
		s.FalseNegatives++
		if len(s.Lost) < maxLost {
			s.Lost = append(s.Lost, hex.EncodeToString(key))
		}
	}
}

// addKey takes a key that differs from the one before.
func (s *survey) addKey(key []byte) {
	s.Disordered = s.Disordered || bytes.Compare(s.previous, key) > 0
	if s.sample != nil {
		s.sample.Offer(key)
	}
	s.Keys++
	s.previous = append(s.previous[:0], key...)
}
