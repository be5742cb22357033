package sstable

import (
	"errors"
	"fmt"
	"iter"
)

// An Entry is a key and its value, as they are in a block. Its memory is reused for the next one.
type Entry struct {
	Block  int    // the number of the data block, see Table.Block
	Key    []byte // the user key: what filters know
	Stored []byte // the key with its trailer, if it has one
	Value  []byte
}

// Entries returns the entries of all data blocks in the order of the file. An error is the last
// element. It reads one block at a time, compares all checksums and checks all lengths. Keys that
// are out of order are no error, because only the database knows its comparer. But if the keys are
// in the order of LevelDB's default comparer and the index does not fit them, an error that wraps
// [ErrIndexOrder] follows the last entry.
func (t *Table) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		checks := t.orderChecks()
		for i, h := range t.index.handles {
			err := t.eachEntry(h, func(e *entries) error {
				user, ok := t.keysFound.userKey(e.key)
				if !ok {
					return fmt.Errorf("the key %x is too short for an internal one", e.key)
				}
				for j := range checks {
					checks[j].add(i, e.key)
				}
				return yieldEntry(yield, Entry{i, user, e.key, e.value})
			})
			if err != nil {
				if !errors.Is(err, errStop) {
					yield(Entry{}, t.fail(int64(h.Offset), fmt.Errorf("data block %d: %w", i, err)))
				}
				return
			}
		}
		if err := finishChecks(checks); err != nil {
			yield(Entry{}, t.fail(t.indexOffset, err))
		}
	}
}

// MetaEntries is like Entries for a block beside the data that is made of entries too, such as
// RocksDB's properties. Its entries have no number of a block, and Key is the stored key.
func (t *Table) MetaEntries(h BlockHandle) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := t.eachEntry(h, func(e *entries) error {
			return yieldEntry(yield, Entry{-1, e.key, e.key, e.value})
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Entry{}, t.fail(h.offset(), err))
		}
	}
}

// errStop ends an iteration because the loop over the entries has ended.
var errStop = errors.New("the loop has ended")

func yieldEntry(yield func(Entry, error) bool, e Entry) error {
	if !yield(e, nil) {
		return errStop
	}
	return nil
}
