package sstable

import (
	"errors"
	"fmt"
	"iter"
)

// An Entry is a key of a table and its value. The next step of the iteration overwrites their
// memory.
type Entry struct {
	Block  int    // the number of the data block, see Table.Block
	Key    []byte // the user key, which filters have
	Stored []byte // the key with its trailer, if it has one
	Value  []byte
}

// Entries returns the entries of all data blocks in the order of the file. It reads one block at a
// time, compares all checksums and checks all lengths.
//
// An iteration ends with its first error, which comes with a zero Entry; [OpenTable] lists the
// errors. Keys out of order are not an error, because only the database knows its comparer. But if
// the keys are in the order of LevelDB's default comparer and the index is not consistent with
// them, a *[CorruptionError] that wraps [ErrIndexOrder] follows the last entry.
func (t *Table) Entries() iter.Seq2[Entry, error] {
	t.mustBeOpen()
	return func(yield func(Entry, error) bool) {
		checks := t.orderChecks()
		for i := range t.index.handles {
			more := t.blockEntries(i, func(e Entry, err error) bool {
				for j := range checks {
					if err == nil {
						checks[j].add(i, e.Stored)
					}
				}
				return yield(e, err)
			})
			if !more {
				return
			}
		}
		if err := finishChecks(checks); err != nil {
			yield(Entry{}, t.fail(t.indexOffset, err))
		}
	}
}

// BlockEntries returns the entries of data block i, 0 <= i < Blocks(), as Entries does, but does
// not judge the index. It panics for any other i.
func (t *Table) BlockEntries(i int) iter.Seq2[Entry, error] {
	t.mustBeOpen()
	return func(yield func(Entry, error) bool) { t.blockEntries(i, yield) }
}

// blockEntries calls yield for the entries of a data block, and reports whether it may go on.
func (t *Table) blockEntries(i int, yield func(Entry, error) bool) bool {
	h := t.index.handles[i]
	err := t.eachEntry(h, func(e *entries) error {
		user, ok := t.keysFound.userKey(e.key)
		if !ok {
			return fmt.Errorf("the key %x is too short for an internal one", e.key)
		}
		if !yield(Entry{i, user, e.key, e.value}, nil) {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		yield(Entry{}, t.fail(int64(h.Offset), fmt.Errorf("data block %d: %w", i, err)))
	}
	return err == nil
}

// errStop ends an iteration because the loop over the entries has ended.
var errStop = errors.New("the loop has ended")
