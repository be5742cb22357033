package sstable

import (
	"errors"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// The names of filters in the metaindex are these, followed by the policy's name.
const (
	windowFilterPrefix = "filter."
	wholeFilterPrefix  = "fullfilter."
)

// ErrNoFilter is the error of Table.Filter for a table that has no filter of the policy's name.
var ErrNoFilter = errors.New("the table has no filter of this name")

// A TableFilter asks the filters of one table. It is safe for concurrent use if the policy is.
type TableFilter struct {
	index   *index
	formats []KeyFormat // formats in which a lookup is tried
	policy  policy.Policy
	whole   []byte             // the filter of the whole table
	windows *FilterBlockReader // or the filter block, then not nil
}

// Filter reads the table's filters under the name of p. It returns an error that wraps
// [ErrNoFilter] if there are none, and a *[CorruptionError] if they do not fit the table. An engine
// then continues without them, as if each answered "may contain".
func (t *Table) Filter(p policy.Policy) (*TableFilter, error) {
	if p == nil {
		return nil, errNilPolicy
	}
	for _, e := range t.Filters() {
		if e.Policy == p.Name() {
			return t.OpenFilter(e, p)
		}
	}
	return nil, fmt.Errorf("%s: %w: %q", fileName(t.name), ErrNoFilter, p.Name())
}

// OpenFilter is like Filter for one of Filters(), whatever its name: p must be able to read it.
func (t *Table) OpenFilter(e FilterEntry, p policy.Policy) (*TableFilter, error) {
	if p == nil {
		return nil, errNilPolicy
	}
	block, err := t.ReadBlock(e.Handle)
	if err != nil {
		return nil, err
	}
	f := &TableFilter{index: &t.index, policy: p}
	formats := []KeyFormat{t.keysFound}
	if t.keys == AutoKeys {
		formats = []KeyFormat{InternalKeys, PlainKeys}
	}
	for _, format := range formats {
		if t.index.sorted[format] {
			f.formats = append(f.formats, format)
		}
	}
	if e.Whole {
		f.whole = block
		return f, nil
	}
	f.windows = NewFilterBlockReader(p, block)
	if err := f.windows.Validate(); err != nil {
		return nil, t.fail(int64(e.Handle.Offset), err)
	}
	if err := t.checkWindows(f.windows); err != nil {
		return nil, t.fail(int64(e.Handle.Offset), err)
	}
	return f, nil
}

// checkWindows compares the filters with the data blocks: a window has a filter if, and only if, a
// block with keys begins in it. This fails if an offset or base_lg is wrong: filters would answer
// for the wrong keys. Windows after the last filter do no harm.
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

// haveKeys reports whether any of the data blocks has keys, or cannot be read. goleveldb writes a
// block without keys into a table without keys.
func (t *Table) haveKeys(blocks []BlockHandle) bool {
	for _, h := range blocks {
		if t.eachEntry(h, func(*entries) error { return errStop }) != nil {
			return true
		}
	}
	return false
}

// Windows returns the filter block, nil if there is one filter for the whole table.
func (f *TableFilter) Windows() *FilterBlockReader { return f.windows }

// Whole returns the filter of the whole table, nil if there is one for each window.
func (f *TableFilter) Whole() []byte { return f.whole }

// MayContain reports whether the table may contain key, a user key, by asking the filter that a
// lookup asks. It is true where a lookup asks none: after the last block.
//
// It finds the block as LevelDB's default comparer does, by the bytes of the keys. A table does not
// name its comparer: if its index is in another order, every answer is true, but an index of a few
// blocks may be in the default order by chance. So with a comparer of your own, find the block
// yourself and call [TableFilter.MayContainAt].
func (f *TableFilter) MayContain(key []byte) bool {
	if f.windows == nil {
		return f.policy.MayContain(f.whole, key)
	}
	if len(f.formats) == 0 {
		return true
	}
	for _, format := range f.formats {
		if i := f.index.find(
			key,
			format,
		); i == f.index.len() ||
			f.MayContainAt(f.index.handles[i].Offset, key) {
			return true
		}
	}
	return false
}

// MayContainAt is like MayContain for a lookup that has reached the data block at this offset.
func (f *TableFilter) MayContainAt(blockOffset uint64, key []byte) bool {
	if f.windows == nil {
		return f.policy.MayContain(f.whole, key)
	}
	return f.windows.MayContain(blockOffset, key)
}
