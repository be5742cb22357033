package analysis

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/policy/absent"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

const (
	maxAbsent    = 1 << 16 // absent keys that are kept
	maxAbsentLen = 512     // of each, in bytes: there are none between longer ones

	// Engines ask the filters of a table only about keys between its first and its last one. Each
	// such key that counts like its neighbors is equally likely to be asked for. But keys often form
	// groups with giant gaps between them ("acct:...", "user:..."), which nobody looks into: only so
	// many keys of a gap are taken.
	maxPerGap = 64

	maxLost = 10 // lost keys in a report
)

// A survey is what one pass over the entries of a table finds out. Its memory does not depend on
// the number of entries, except for 8 bytes per filter.
type survey struct {
	Report
	compared *tables.Filters // with the entries that they cover; nil: that cannot be

	perFilter []int64 // keys that each filter was built from
	once      bool    // a repeated key was added once

	previous []byte
	bytewise bool // the keys ascend in bytewise order
	absent   sample
}

// newSurvey returns a survey of the entries of a table. LevelDB adds every version of a key to the
// filter of a window. Pebble adds a key, or the part of it that its comparer's Split returns, only
// if it differs from the one before.
func newSurvey(info *tables.Info, verifyOnly bool) *survey {
	s := &survey{bytewise: true, absent: sample{rng: rand.New(rand.NewPCG(1, 0))}}
	f := info.Filters
	if f == nil {
		return s
	}
	s.perFilter, s.once = make([]int64, len(f.Each)), f.Layout == tables.PerTable
	if f.Reader != nil && info.Unverified == "" {
		s.compared = f
		if !verifyOnly {
			s.absent.limit = maxAbsent
		}
	}
	return s
}

// add takes the next entry, and the filter that covers it.
func (s *survey) add(filter int, key []byte) {
	s.Entries++
	isNew := s.Keys == 0 || !bytes.Equal(s.previous, key)
	if isNew {
		s.addKey(key)
	}
	if filter < 0 {
		s.Unfiltered++
		return
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
	if s.Keys > 0 && bytes.Compare(s.previous, key) > 0 {
		s.bytewise = false
	} else if s.Keys > 0 && s.absent.limit > 0 && len(key) <= maxAbsentLen {
		s.absent.offerBetween(s.previous, key)
	}
	s.Keys++
	s.previous = append(s.previous[:0], key...)
}

// A sample is a uniform random one of the keys that it is offered (Vitter, "Random Sampling with a
// Reservoir", 1985, algorithm R).
type sample struct {
	rng     *rand.Rand
	limit   int // of the keys
	offered uint64
	keys    [][]byte
}

// offerBetween offers absent keys between two neighbors.
func (s *sample) offerBetween(low, high []byte) {
	gap := absent.Between(low, high, len(low))
	for i := range min(gap.Len, maxPerGap) {
		place := s.offer()
		if place == nil {
			continue
		}
		if gap.Len > maxPerGap {
			i = s.rng.Uint64N(gap.Len)
		}
		*place = append((*place)[:0], low...)
		gap.Put(*place, i)
	}
}

// offer offers a key, and returns where to write it, nil if it is not taken.
func (s *sample) offer() *[]byte {
	s.offered++
	if len(s.keys) < s.limit {
		s.keys = append(s.keys, nil)
		return &s.keys[len(s.keys)-1]
	}
	if i := s.rng.Uint64N(s.offered); i < uint64(s.limit) {
		return &s.keys[i]
	}
	return nil
}
