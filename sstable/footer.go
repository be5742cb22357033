package sstable

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A BlockHandle says where a block lies in a file.
type BlockHandle struct {
	Offset uint64 // of its first byte in the file
	Length uint64 // in bytes, compressed, without the compression byte and the checksum after it
}

// offset returns where an error in the block is, for a CorruptionError.
func (h BlockHandle) offset() int64 {
	if h.Offset > math.MaxInt64 {
		return -1
	}
	return int64(h.Offset)
}

const (
	trailerLen = 1 + 4
	footerLen  = 48
)

// decodeHandle returns the handle at the beginning of b, and the bytes after it.
func decodeHandle(b []byte) (h BlockHandle, rest []byte, err error) {
	offset, n := binary.Uvarint(b)
	if n <= 0 {
		return h, nil, errors.New("a block handle without an offset")
	}
	b = b[n:]
	length, n := binary.Uvarint(b)
	if n <= 0 {
		return h, nil, errors.New("a block handle without a length")
	}
	return BlockHandle{offset, length}, b[n:], nil
}

// decodeFooter returns the handles in a footer. REQUIRES: len(footer) == footerLen.
func decodeFooter(footer []byte) (metaindex, index BlockHandle, err error) {
	handles := footer[:footerLen-magic.Len]
	if metaindex, handles, err = decodeHandle(handles); err != nil {
		return metaindex, index, err
	}
	index, _, err = decodeHandle(handles)
	return metaindex, index, err
}
