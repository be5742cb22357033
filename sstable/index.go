package sstable

import (
	"fmt"
	"slices"
	"sort"
)

// An index knows the data blocks of a table, in their order.
type index struct {
	handles []BlockHandle
	keys    []byte // the keys one after the other
	ends    []int  // where each ends
	size    int64  // of the block, uncompressed

	// sorted has, for each format, whether the keys rise in the order of LevelDB's default comparer
	// if they are of that format.
	sorted [PlainKeys + 1]bool
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
	x := &t.index
	var end uint64 // of the block before
	contents, err := t.blocks.read(h)
	if err != nil {
		return err
	}
	x.size = int64(len(contents))
	err = eachEntryOf(contents, func(e *entries) error {
		block, _, err := decodeHandle(e.value)
		if err == nil {
			err = t.blocks.check(block)
		}
		if err == nil && block.Offset < end {
			err = fmt.Errorf("it begins at %d, before the end of the block before it", block.Offset)
		}
		if err == nil {
			err = e.checkKeys(maxKeptSharing)
		}
		if err != nil {
			return fmt.Errorf("data block %d: %w", x.len(), err)
		}
		end = block.Offset + block.Length + trailerLen
		x.handles = append(x.handles, block)
		x.keys = append(x.keys, e.key...)
		x.ends = append(x.ends, len(x.keys))
		return nil
	})
	if err != nil {
		return err
	}
	// Drop the spare capacity, and the buffers: no other block needs them as large.
	x.handles, x.keys, x.ends = slices.Clone(x.handles), slices.Clone(x.keys), slices.Clone(x.ends)
	t.blocks.stored, t.blocks.decoded = nil, nil
	for _, f := range []KeyFormat{InternalKeys, PlainKeys} {
		x.sorted[f] = x.isSorted(f)
	}
	return nil
}

// find returns the first block whose index key is not below a lookup of the user key, or len() if
// there is no such block. REQUIRES: sorted[f].
func (x *index) find(key []byte, f KeyFormat) int {
	return sort.Search(x.len(), func(i int) bool {
		return f.compareUser(x.key(i), key) >= 0 // a lookup sorts before all versions of its key
	})
}

// isSorted reports whether the keys are of this format and rise in the order of LevelDB's default
// comparer.
func (x *index) isSorted(f KeyFormat) bool {
	for i := range x.len() {
		if _, ok := f.userKey(x.key(i)); !ok || i > 0 && f.compare(x.key(i-1), x.key(i)) >= 0 {
			return false
		}
	}
	return true
}

// FindBlock returns the number of the data block in which a lookup of key, a user key, searches. It
// uses the index and LevelDB's default order of keys. It returns false if the key lies beyond the
// last block, or if the index is in another order.
func (t *Table) FindBlock(key []byte) (block int, ok bool) {
	t.mustBeOpen()
	if !t.index.sorted[t.keysFound] {
		return 0, false
	}
	block = t.index.find(key, t.keysFound)
	return block, block < t.index.len()
}
