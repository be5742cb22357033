package sstable

import (
	"fmt"
	"iter"
)

// An Entry is a key of a table and its value. The next step of the iteration overwrites their
// memory.
type Entry struct {
	Block  int    // the number of the data block, see Table.Block
	Key    []byte // the user key, which filters have; the package comment says how it is found
	Stored []byte // the key with its trailer, if it has one
	Value  []byte
}

// Entries returns the entries of all data blocks in the order of the file. It reads one block at a
// time, compares all checksums and checks all lengths.
//
// An iteration ends with its first error, which comes with a zero Entry; [OpenTable] lists the
// errors. Keys out of order are not an error, because only the database knows its comparer. For an
// index that does not fit them, a *[CorruptionError] that wraps [ErrIndexOrder] follows the last
// entry.
func (t *Table) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		checks := []orderCheck{ // for each format that the keys may have, the likeliest first
			{index: &t.index, format: t.keys},
			{index: &t.index, format: !t.keys},
		}
		blocks := t.blocks // with buffers of its own
		for i, h := range t.index.handles {
			for e, err := range entriesOf(blocks.read(h)) {
				var user []byte
				if err == nil {
					var ok bool
					if user, ok = t.keys.userKey(e.key); !ok {
						err = fmt.Errorf("the key %x is too short for an internal one", e.key)
					}
				}
				if err != nil {
					yield(Entry{}, t.fail(int64(h.Offset), fmt.Errorf("data block %d: %w", i, err)))
					return
				}
				for j := range checks {
					checks[j].add(i, e.key)
				}
				if !yield(Entry{i, user, e.key, e.value}, nil) {
					return
				}
			}
		}
		if err := finishChecks(checks); err != nil {
			yield(Entry{}, t.fail(t.indexOffset, fmt.Errorf("%w: %w", ErrIndexOrder, err)))
		}
	}
}
