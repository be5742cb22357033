package sstable

import (
	"encoding/binary"
	"fmt"

	"github.com/levelbloom/levelbloom/policy"
)

// A FilterBlockReader reads a filter block. It is immutable, and safe for concurrent use if the
// policy is.
type FilterBlockReader struct {
	policy  policy.Policy
	filters []byte
	starts  []byte // 4 bytes for each filter, and 4 for the end of the last
	num     uint64 // of filters
	baseLg  uint
	err     error // why the block is not well formed; then it has no filters
}

// A FilterBlockError says why a filter block is not well formed.
type FilterBlockError struct {
	Offset int // of the bytes in the block that are wrong
	Cause  string
}

func (e *FilterBlockError) Error() string {
	return fmt.Sprintf("filter block: at offset %d: %s", e.Offset, e.Cause)
}

// NewFilterBlockReader returns a reader of block, which must not change while it is in use. It
// accepts any bytes; [FilterBlockReader.Validate] says what is wrong with them. It panics if p is
// nil.
func NewFilterBlockReader(p policy.Policy, block []byte) *FilterBlockReader {
	if p == nil {
		panic("sstable: NewFilterBlockReader with a nil policy: " +
			"pass one that policy.NewBloom returned")
	}
	r := &FilterBlockReader{policy: p}
	r.err = r.parse(block)
	return r
}

// parse checks every offset once, so that MayContain can trust them. If it returns an error, r has
// no filters.
func (r *FilterBlockReader) parse(block []byte) error {
	const tail = 4 + 1 // the offset of the offsets, base_lg
	if len(block) < tail {
		return &FilterBlockError{
			0,
			fmt.Sprintf("%d bytes, and the shortest filter block has %d", len(block), tail),
		}
	}
	last := len(block) - 1
	if block[last] > maxBaseLg {
		return &FilterBlockError{
			last,
			fmt.Sprintf("windows of 2^%d bytes, and offsets have 64 bits", block[last]),
		}
	}
	array := binary.LittleEndian.Uint32(block[last-4:])
	if uint64(array) > uint64(len(block)-tail) {
		return &FilterBlockError{
			last - 4,
			fmt.Sprintf("the offsets should begin at %d, beyond the end", array),
		}
	}
	if space := len(block) - tail - int(array); space%4 != 0 {
		return &FilterBlockError{
			last - 4,
			fmt.Sprintf("%d bytes for offsets of 4 bytes each", space),
		}
	}
	starts := block[array:last]
	var before uint32
	for i := 0; i < len(starts); i += 4 {
		start := binary.LittleEndian.Uint32(starts[i:])
		if i == 0 && start != 0 {
			return &FilterBlockError{
				int(array),
				fmt.Sprintf("the first filter begins at %d instead of 0", start),
			}
		}
		if start < before || start > array {
			return &FilterBlockError{
				int(array) + i,
				fmt.Sprintf(
					"filter %d begins at %d, the one before at %d, and the last one ends at %d",
					i/4,
					start,
					before,
					array,
				),
			}
		}
		before = start
	}
	r.filters, r.starts, r.num, r.baseLg = block[:array], starts, uint64(
		len(starts)/4-1,
	), uint(
		block[last],
	)
	return nil
}

// MayContain reports whether the data block that begins at this offset of the file may have key (a
// user key). The package comment lists the answers for malformed blocks.
func (r *FilterBlockReader) MayContain(blockOffset uint64, key []byte) bool {
	window := blockOffset >> r.baseLg
	if window >= r.num {
		return true
	}
	filter := r.filter(window)
	return len(filter) > 0 && r.policy.MayContain(filter, key)
}

// Validate returns a *[FilterBlockError] if the block is not well formed. It does not look into the
// filters.
func (r *FilterBlockReader) Validate() error { return r.err }

// BaseLg returns the logarithm to base 2 of the bytes in a window. It is 0 for a block that is not
// well formed.
func (r *FilterBlockReader) BaseLg() int { return int(r.baseLg) }

// NumFilters returns the number of filters, the empty ones included. It is 0 for a block that is
// not well formed.
func (r *FilterBlockReader) NumFilters() int { return int(r.num) }

// Filter returns the filter of window i, 0 <= i < NumFilters(). It has no bytes if no block begins
// in the window. Its memory is the block's.
func (r *FilterBlockReader) Filter(i int) []byte { return r.filter(uint64(i)) }

func (r *FilterBlockReader) filter(window uint64) []byte {
	at := r.starts[4*window:]
	start, limit := binary.LittleEndian.Uint32(at), binary.LittleEndian.Uint32(at[4:])
	return r.filters[start:limit:limit]
}
