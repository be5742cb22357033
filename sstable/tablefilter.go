package sstable

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/policy"
)

// filterPrefix begins the names of filters in the metaindex. The policy's name follows.
const filterPrefix = "filter."

// A TableFilter answers lookups from a table's filters. It is safe for concurrent use.
type TableFilter struct {
	index   *index
	windows *FilterBlockReader
}

// OpenFilter reads one of Filters(), which policy.MayContain then answers from. Foreign filters
// answer "may contain" to every key.
//
// It returns a *[CorruptionError] if the filters are damaged or do not fit the data blocks, and
// otherwise the errors of reading. An engine that gets an error must continue without the filters,
// as if each answered "may contain".
func (t *Table) OpenFilter(e FilterEntry) (*TableFilter, error) {
	blocks := t.blocks
	block, err := blocks.read(e.Handle)
	if err != nil {
		return nil, t.fail(int64(e.Handle.Offset), err)
	}
	mayContain := policy.MayContain
	if e.Foreign {
		mayContain = func(filter, key []byte) bool { return true }
	}
	windows, err := NewFilterBlockReader(mayContain, slices.Clip(block))
	if err != nil {
		return nil, err
	}
	if bad := windows.bad; bad != nil {
		return nil, t.fail(int64(e.Handle.Offset),
			fmt.Errorf("%w, at %d of the block", bad.Cause, bad.Offset))
	}
	if err := t.checkWindows(windows); err != nil {
		return nil, t.fail(int64(e.Handle.Offset), err)
	}
	return &TableFilter{&t.index, windows}, nil
}

// checkWindows compares the filters with the data blocks: a window must have a filter if, and only
// if, a block with keys begins in it. With a wrong offset or base_lg filters would answer for the
// wrong keys. Windows after the last filter do no harm.
func (t *Table) checkWindows(r *FilterBlockReader) error {
	blocks, block := t.index.handles, 0
	for i := range r.NumFilters() {
		first := block
		for block < len(blocks) && blocks[block].Offset>>r.BaseLg() == uint64(i) {
			block++
		}
		if has := len(r.Filter(i)) > 0; has && first == block {
			return fmt.Errorf("filter block: filter %d of windows of 2^%d bytes has keys, "+
				"and no data block begins there", i, r.BaseLg())
		} else if !has && t.haveKeys(blocks[first:block]) {
			return fmt.Errorf("filter block: filter %d of windows of 2^%d bytes is empty, "+
				"and a data block begins at %d", i, r.BaseLg(), blocks[first].Offset)
		}
	}
	return nil
}

// haveKeys reports whether any of the data blocks has keys or cannot be read. In a table without
// keys, goleveldb writes a data block without keys.
func (t *Table) haveKeys(blocks []BlockHandle) bool {
	reader := t.blocks
	for _, h := range blocks {
		for range entriesOf(reader.read(h)) { // an entry, or an error
			return true
		}
	}
	return false
}

// Windows returns the filter block. To look up a key whose data block is known, pass the offset of
// the block to MayContain of the filter block.
func (f *TableFilter) Windows() *FilterBlockReader { return f.windows }

// MayContain reports whether the table may contain key, a user key. It uses the filter that an
// engine's lookup of key uses, and returns true for a key after the last block, for which an engine
// uses no filter. It tries the key as an internal and as a plain one, and returns false only if
// both are absent, so that a mistake about the table's keys loses none.
//
// It finds the block as LevelDB's default comparer does. If the index is in another order, every
// answer is true, but an index of a few blocks may be in that order by chance: with a comparer
// of your own, find the block yourself and ask [TableFilter.Windows].
func (f *TableFilter) MayContain(key []byte) bool {
	for _, format := range f.index.formats {
		i := f.index.find(key, format)
		if i == f.index.len() || f.windows.MayContain(f.index.handles[i].Offset, key) {
			return true
		}
	}
	return len(f.index.formats) == 0
}
