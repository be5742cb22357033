package sstable

import (
	"bytes"
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

const footerLen = 48

// readFooter returns the handles in the footer of a file of size bytes, or an error if the file is
// no table in LevelDB's format.
func (t *Table) readFooter(size int64) (metaindex, index BlockHandle, err error) {
	begin := max(size-footerLen, 0)
	footer := make([]byte, max(size-begin, 0))
	if err := readFull(t.blocks.file, footer, begin); err != nil {
		return metaindex, index, t.fail(begin, err)
	}
	// Memory is read without an error.
	format, _, _ := magic.Of(bytes.NewReader(footer), int64(len(footer)))
	if format != magic.LevelDB {
		return metaindex, index, &FormatError{t.name, string(format)}
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
