package sstable

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
)

// An index lists the data blocks of a table, in their order.
type index struct {
	handles []BlockHandle
	keys    []byte // the keys one after the other
	ends    []int  // where each ends
	size    int64  // of the block, uncompressed

	// formats has those that the keys may have and in which they rise in the order of LevelDB's
	// default comparer.
	formats []keyFormat
}

func (x *index) len() int { return len(x.handles) }

// key returns the index key of a block: not below the block's last key, and below the first key of
// the next block.
func (x *index) key(i int) []byte {
	start := 0
	if i > 0 {
		start = x.ends[i-1]
	}
	return x.keys[start:x.ends[i]:x.ends[i]]
}

func (t *Table) readIndex(h BlockHandle) error {
	blocks := t.blocks
	contents, err := blocks.read(h)
	x := &t.index
	x.size = int64(len(contents))
	var end uint64 // of the block before
	for e, err := range entriesOf(contents, err) {
		if err != nil {
			return err
		}
		block, err := t.blocks.handleIn(e)
		if err == nil && block.Offset < end {
			err = fmt.Errorf("it begins at %d, before the end of the block before it", block.Offset)
		}
		if err != nil {
			return fmt.Errorf("data block %d: %w", x.len(), err)
		}
		end = block.Offset + block.Length + trailerLen
		x.handles = append(x.handles, block)
		x.keys = append(x.keys, e.key...)
		x.ends = append(x.ends, len(x.keys))
	}
	// Drop the spare capacity.
	x.handles, x.keys, x.ends = slices.Clone(x.handles), slices.Clone(x.keys), slices.Clone(x.ends)
	for _, f := range []keyFormat{internalKeys, plainKeys} {
		if x.isSorted(f) {
			x.formats = append(x.formats, f)
		}
	}
	return nil
}

// find returns the first block whose index key is not below a lookup of the user key, or len() if
// there is no such block. REQUIRES: f is one of formats.
func (x *index) find(key []byte, f keyFormat) int {
	return sort.Search(x.len(), func(i int) bool {
		user, _ := f.userKey(x.key(i))
		return bytes.Compare(user, key) >= 0 // a lookup sorts before all versions of its key
	})
}

// isSorted reports whether the keys are of this format and rise in the order of LevelDB's default
// comparer.
func (x *index) isSorted(f keyFormat) bool {
	for i := range x.len() {
		if _, ok := f.userKey(x.key(i)); !ok || i > 0 && f.compare(x.key(i-1), x.key(i)) >= 0 {
			return false
		}
	}
	return true
}
