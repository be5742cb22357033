package goleveldb

import "github.com/syndtr/goleveldb/leveldb/filter"

// trailerLen is the length of what a database appends to the user's key in its tables: sequence number and kind.
const trailerLen = 8

// ForInternalKeys returns a filter for reading and writing the tables of a database through table.NewReader and
// table.NewWriter. The keys there are internal ones, the user's key and 8 bytes, while the filters are made of the
// user's keys: with the bare f, Find(key, true) would miss nearly every key of the table. The returned filter removes
// the 8 bytes and has the name of f. It is as safe for concurrent use as f.
//
// The reader needs a comparer for internal keys too: the user's keys in the database's order, and for equal ones the 8
// bytes as little-endian numbers, the larger first.
//
// It is not for the options of a database, which removes the 8 bytes by itself: the filters would then be made of
// mutilated keys, and later readers would lose keys.
//
// A key shorter than 8 bytes is no internal key. Contains answers that the filter may contain it. Add adds it whole,
// which keeps the filter from being the one of no keys.
//
// ForInternalKeys panics if f is nil.
func ForInternalKeys(f filter.Filter) filter.Filter {
	if f == nil {
		panic("goleveldb: ForInternalKeys of a nil filter: pass one, such as New returns")
	}
	return internalKeys{f}
}

type internalKeys struct{ filter.Filter }

func (f internalKeys) Contains(filter, key []byte) bool {
	return len(key) < trailerLen || f.Filter.Contains(filter, key[:len(key)-trailerLen])
}

func (f internalKeys) NewGenerator() filter.FilterGenerator {
	return internalKeysGenerator{f.Filter.NewGenerator()}
}

type internalKeysGenerator struct{ filter.FilterGenerator }

func (g internalKeysGenerator) Add(key []byte) {
	if len(key) >= trailerLen {
		key = key[:len(key)-trailerLen]
	}
	g.FilterGenerator.Add(key)
}
