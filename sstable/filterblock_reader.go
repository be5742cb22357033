package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A FilterBlockReader reads a filter block. It is immutable, and safe for concurrent use if its
// function is.
type FilterBlockReader struct {
	mayContain func(filter, key []byte) bool
	filters    []byte
	starts     []byte // 4 bytes for each filter, and 4 for the end of the last
	num        uint64 // of filters
	baseLg     uint
	bad        *CorruptionError // why the block is not well formed; then it has no filters
}

// NewFilterBlockReader returns a reader of block, which must not change while it is in use.
// mayContain looks a key up in a filter: pass policy.MayContain. It is not called for empty
// filters. Any bytes are accepted as a block: [FilterBlockReader.Validate] says what is wrong with
// them. The only error is for a mayContain that is nil.
func NewFilterBlockReader(
	mayContain func(filter, key []byte) bool, block []byte,
) (*FilterBlockReader, error) {
	if mayContain == nil {
		return nil, errors.New("sstable: no function reads the filters: pass policy.MayContain")
	}
	r := &FilterBlockReader{mayContain: mayContain}
	r.bad = r.parse(block)
	return r, nil
}

// parse checks every offset once, so that MayContain can trust them. If it returns an error, r has
// no filters.
func (r *FilterBlockReader) parse(block []byte) *CorruptionError {
	const tail = 4 + 1 // the offset of the offsets, base_lg
	if len(block) < tail {
		return badBlock(0, "%d bytes, and the shortest filter block has %d", len(block), tail)
	}
	last := len(block) - 1
	if block[last] > maxBaseLg {
		return badBlock(last, "windows of 2^%d bytes, and offsets have 64 bits", block[last])
	}
	array := binary.LittleEndian.Uint32(block[last-4:])
	if uint64(array) > uint64(len(block)-tail) {
		return badBlock(last-4, "the offsets should begin at %d, beyond the end", array)
	}
	if space := len(block) - tail - int(array); space%4 != 0 {
		return badBlock(last-4, "%d bytes for offsets of 4 bytes each", space)
	}
	starts := block[array:last]
	var before uint32
	for i := 0; i < len(starts); i += 4 {
		start := binary.LittleEndian.Uint32(starts[i:])
		if i == 0 && start != 0 {
			return badBlock(int(array), "the first filter begins at %d instead of 0", start)
		}
		if start < before || start > array {
			return badBlock(int(array)+i, "filter %d begins at %d, the one before at %d, "+
				"and the last one ends at %d", i/4, start, before, array)
		}
		before = start
	}
	r.filters, r.starts = block[:array], starts
	r.num, r.baseLg = uint64(len(starts)/4-1), uint(block[last])
	return nil
}

// badBlock returns the error for the bytes at an offset of a filter block.
func badBlock(offset int, format string, args ...any) *CorruptionError {
	return &CorruptionError{
		Offset: int64(offset), Cause: fmt.Errorf("filter block: "+format, args...),
	}
}

// MayContain reports whether the data block that begins at byte blockOffset of the file may have
// key, a user key. The package comment lists the answers for malformed blocks.
func (r *FilterBlockReader) MayContain(blockOffset uint64, key []byte) bool {
	window := blockOffset >> r.baseLg
	if window >= r.num {
		return true
	}
	filter := r.Filter(int(window))
	return len(filter) > 0 && r.mayContain(filter, key)
}

// Validate returns a *[CorruptionError] if the block is not well formed, with the offset in the
// block and without a file. It does not check the filters: policy.Parse does.
func (r *FilterBlockReader) Validate() error {
	if r.bad != nil {
		return r.bad
	}
	return nil
}

// BaseLg returns the base-2 logarithm of the bytes in a window, 0 to 63. It is 0 for a block that
// is not well formed.
func (r *FilterBlockReader) BaseLg() int { return int(r.baseLg) }

// NumFilters returns the number of filters, the empty ones included. It is 0 for a block that is
// not well formed.
func (r *FilterBlockReader) NumFilters() int { return int(r.num) }

// Filter returns the filter of window i, 0 <= i < NumFilters(). The filter has no bytes if no
// block begins in the window. Its memory is the block's.
func (r *FilterBlockReader) Filter(i int) []byte {
	at := r.starts[4*i:]
	start, limit := binary.LittleEndian.Uint32(at), binary.LittleEndian.Uint32(at[4:])
	return r.filters[start:limit:limit]
}
