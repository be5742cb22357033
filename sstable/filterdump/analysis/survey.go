package analysis

import (
	"bytes"
	"context"
	"math/rand/v2"

	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// maxKeySample is how many keys the shapes are learnt from.
const maxKeySample = 1 << 14

// A survey is what one pass over the entries of a table finds out. Its memory does not depend on the number of entries, but
// for 8 bytes a filter.
type survey struct {
	verifier *verifier // nil: the entries cannot be compared

	entries, keys, unfiltered int64
	perFilter                 []int64 // entries that each filter covers
	bytewise                  bool    // the keys ascend in bytewise order
	first, last               []byte  // in bytewise order, whatever that of the table

	sample reservoir[sampledKey]
	pairs  reservoir[neighbours] // but for those without any byte string of their length between them

	previous []byte
}

func newSurvey(rng *rand.Rand, filters, pairs int) *survey {
	return &survey{
		perFilter: make([]int64, filters),
		bytewise:  true,
		sample:    reservoir[sampledKey]{rng: rng, limit: maxKeySample},
		pairs:     reservoir[neighbours]{rng: rng, limit: pairs},
	}
}

func (s *survey) add(filter int, key []byte) error {
	s.entries++
	if filter < 0 {
		s.unfiltered++
	} else {
		s.perFilter[filter]++
		if s.verifier != nil {
			s.verifier.add(filter, key)
		}
	}
	s.compare(key)
	return nil
}

// compare looks at what is new in key, against the one before.
func (s *survey) compare(key []byte) {
	if s.keys > 0 {
		switch order := bytes.Compare(s.previous, key); {
		case order == 0:
			return
		case order > 0:
			s.bytewise = false
		default:
			if pair := (neighbours{s.previous, key}); !pair.adjacent() {
				s.pairs.offer(pair)
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
	s.sample.offer(key)
	s.previous = append(s.previous[:0], key...)
}

// eachEntry is t.Keys, ended by ctx.
func eachEntry(ctx context.Context, t tables.Table, f func(filter int, key []byte) error) error {
	n := 0
	return t.Keys(func(filter int, key []byte) error {
		if n++; n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return f(filter, key)
	})
}
