package tables

import (
	"slices"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
)

// chooseFilter returns the first filter whose encoding is known, or else the first, and the policies of the others.
// REQUIRES: len(entries) > 0.
func chooseFilter(entries []sstable.FilterEntry, o Options) (chosen sstable.FilterEntry, others []string) {
	use := max(0, slices.IndexFunc(entries, func(e sstable.FilterEntry) bool {
		_, presumed := encodingOf(e, o)
		return !presumed
	}))
	for i, e := range entries {
		if i != use {
			others = append(others, e.Policy)
		}
	}
	return entries[use], others
}

// encodingOf returns the encoding of the filters in an entry. RocksDB's filter blocks (filters for windows; releases before 7)
// have LevelDB's Bloom filters under the name of its other ones, with a hash that takes some bytes as signed.
func encodingOf(e sstable.FilterEntry, o Options) (enc encoding.Encoding, presumed bool) {
	enc, known := encoding.ByName(e.Policy)
	switch {
	case slices.Contains(o.Bloom, e.Policy):
		return encoding.LevelDB, false
	case known && (e.Whole || enc == encoding.LevelDB):
		return enc, false
	}
	return encoding.LevelDB, true
}
