package goleveldb

import (
	"bytes"

	"github.com/syndtr/goleveldb/leveldb"
)

// look reports whether s has key in a table with filters like new ones. It is the last one whose
// filter may contain key, but for false positives.
func (f *policyFilter) look(s *leveldb.Snapshot, key []byte) (bool, error) {
	f.looking.Lock()
	defer f.looking.Unlock()
	l := &lookup{key: bytes.Clone(key)} // other lookups may still compare it later
	f.lookup.Store(l)
	defer f.lookup.Store(nil)
	_, err := s.Has(key, uncached)
	return l.ours.Load(), err
}
