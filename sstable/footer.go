package sstable

import (
	"encoding/binary"
	"errors"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A BlockHandle says where a block lies in a file.
type BlockHandle struct {
	Offset uint64 // of its first byte in the file
	Length uint64 // in bytes, compressed, without the compression byte and the checksum after it
}

const (
	trailerLen = 1 + 4
	footerLen  = 48
)

// decodeHandle returns the handle at the beginning of b, of a block that lies in the file, and the
// bytes after it.
func (r *blockReader) decodeHandle(b []byte) (h BlockHandle, rest []byte, err error) {
	offset, n := binary.Uvarint(b)
	if n <= 0 {
		return h, nil, errors.New("a block handle without an offset")
	}
	b = b[n:]
	length, n := binary.Uvarint(b)
	if n <= 0 {
		return h, nil, errors.New("a block handle without a length")
	}
	h = BlockHandle{offset, length}
	return h, b[n:], r.check(h)
}

// handleIn returns the handle in an entry of the metaindex or the index.
func (r *blockReader) handleIn(e *entries) (BlockHandle, error) {
	h, _, err := r.decodeHandle(e.value)
	if err == nil {
		err = e.checkKeys(maxKeptSharing)
	}
	return h, err
}

// decodeFooter returns the handles in a footer. REQUIRES: len(footer) == footerLen.
func (r *blockReader) decodeFooter(footer []byte) (metaindex, index BlockHandle, err error) {
	metaindex, rest, err := r.decodeHandle(footer[:footerLen-magic.Len])
	if err == nil {
		index, _, err = r.decodeHandle(rest)
	}
	return metaindex, index, err
}
