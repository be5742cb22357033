package sstable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

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

// readFooter returns the handles in the footer of a file of size bytes, or an error if the file is
// no table in LevelDB's format.
func (t *Table) readFooter(size int64) (metaindex, index BlockHandle, err error) {
	begin := max(size-footerLen, 0)
	footer := make([]byte, max(size-begin, 0))
	if err := readFull(t.blocks.file, footer, begin); err != nil {
		return metaindex, index, t.fail(begin, err)
	}
	// Memory is read without an error.
	format, number, _ := magic.Of(bytes.NewReader(footer), int64(len(footer)))
	if format != magic.LevelDB {
		return metaindex, index, &FormatError{t.name, string(format), size, number}
	}
	if size < footerLen {
		return metaindex, index, t.fail(0, fmt.Errorf("%d bytes are too short for a footer", size))
	}
	t.blocks.size = uint64(begin)
	metaindex, rest, err := t.blocks.decodeHandle(footer[:footerLen-magic.Len])
	if err == nil {
		index, _, err = t.blocks.decodeHandle(rest)
	}
	if err != nil {
		err = t.fail(begin, fmt.Errorf("footer: %w", err))
	}
	return metaindex, index, err
}
