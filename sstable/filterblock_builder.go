package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/policy"
)

// DefaultBaseLg is for windows of 2^11 bytes, the only ones that C++ LevelDB writes.
const DefaultBaseLg = 11

const maxBaseLg = 63 // offsets have 64 bits

// A FilterBlockBuilder builds the filter blocks of tables, one after the other. The calls for a
// table are
//
//	(StartBlock AddKey*)* Finish
//
// as in LevelDB: StartBlock with the file offset of each data block before its keys are added, and
// once more with the offset after the last one. The keys of a block go into the filter of the
// window in which the block begins.
//
// A FilterBlockBuilder is not safe for concurrent use.
type FilterBlockBuilder struct {
	keys   policy.Builder // of the window len(starts)
	baseLg uint
	block  []byte   // the filters of the windows before
	starts []uint32 // where they begin

	maxBytes uint64 // the largest offset
	full     bool   // a filter did not fit: no more filters
}

// NewFilterBlockBuilder returns a builder of filter blocks. Pass p.NewBuilder of a policy p, which
// returns a builder of the filters, and [DefaultBaseLg] or another baseLg from 0 to 63: a window is
// 2^baseLg bytes of data blocks, and costs 4 bytes, also without keys. C++ LevelDB and goleveldb,
// which calls the setting FilterBaseLg, read all sizes.
//
// It returns an error that says what to pass if newBuilder is nil or baseLg is out of range.
func NewFilterBlockBuilder(
	newBuilder func() policy.Builder, baseLg int,
) (*FilterBlockBuilder, error) {
	switch {
	case newBuilder == nil:
		return nil, errors.New("sstable: no function makes the builder of filters: " +
			"pass p.NewBuilder of a policy p")
	case baseLg < 0 || baseLg > maxBaseLg:
		return nil, fmt.Errorf("sstable: windows of 2^%d bytes: "+
			"pass a number from 0 to %d, usually %d", baseLg, maxBaseLg, DefaultBaseLg)
	}
	return &FilterBlockBuilder{keys: newBuilder(), baseLg: uint(baseLg), maxBytes: math.MaxUint32}, nil
}

// StartBlock says that a data block begins at this offset of the file, in bytes. Offsets must not
// decrease: it panics if one lies in an earlier window.
func (b *FilterBlockBuilder) StartBlock(offset uint64) {
	window := offset >> b.baseLg
	if window < uint64(len(b.starts)) {
		panic(fmt.Sprintf("sstable: StartBlock(%d) after a block that begins in a later window",
			offset))
	}
	for uint64(len(b.starts)) < window && !b.full {
		b.finishFilter()
	}
}

// AddKey adds a key of the block that StartBlock was called for: a user key, without the trailer of
// an internal one. It keeps no reference to the key's memory.
func (b *FilterBlockBuilder) AddKey(key []byte) {
	if !b.full {
		b.keys.Add(key)
	}
}

// Finish returns the filter block, which is the caller's, and starts over for another table. The
// offsets have 32 bits: the first filter that would end beyond 4 GiB and all after it are left out,
// and readers answer "may contain" for their windows.
func (b *FilterBlockBuilder) Finish() []byte {
	if b.keys.Len() > 0 {
		b.finishFilter()
	}
	block, array := b.block, uint32(len(b.block))
	for _, start := range b.starts {
		block = binary.LittleEndian.AppendUint32(block, start)
	}
	block = binary.LittleEndian.AppendUint32(block, array)
	block = append(block, byte(b.baseLg))

	b.block, b.starts, b.full = nil, b.starts[:0], false
	return block
}

// finishFilter appends the filter of the current window, which has no bytes if there are no keys.
func (b *FilterBlockBuilder) finishFilter() {
	start := len(b.block)
	if b.keys.Len() > 0 {
		b.block = b.keys.Finish(b.block)
		if b.full = uint64(len(b.block)) > b.maxBytes; b.full {
			b.block = b.block[:start]
			return
		}
	}
	b.starts = append(b.starts, uint32(start))
}
