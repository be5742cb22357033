package sstable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A Table is an open table in LevelDB's format, as [OpenTable] returns it. It keeps the index in
// memory, 24 bytes and the key for each data block, and no data. It needs no closing.
//
// A Table is not safe for concurrent use, but several may read one file.
type Table struct {
	name      string
	keys      KeyFormat // as given to WithKeys; AutoKeys if they are not known for sure
	keysFound KeyFormat // what they are, or look like

	blocks      blockReader
	filters     []FilterEntry // in the order of the metaindex
	index       index
	indexOffset int64

	// RocksDB's format_version 0 and a format of Pebble's have LevelDB's magic number, but filters
	// for whole tables, which LevelDB does not know.
	ofRocksDB bool
}

// A FilterEntry is a filter that a table has.
type FilterEntry struct {
	Policy string      // the policy's name
	Handle BlockHandle // of the filter block
}

// A TableOption is an option of [OpenTable].
type TableOption func(*Table) error

// WithFileName sets the name of the file in errors. The file is not opened by this name.
func WithFileName(name string) TableOption {
	return func(t *Table) error {
		t.name = name
		return nil
	}
}

// WithKeys sets the format of the table's keys; the default is [AutoKeys].
func WithKeys(f KeyFormat) TableOption {
	return func(t *Table) error {
		if f < AutoKeys || f > PlainKeys {
			return fmt.Errorf("sstable: key format %d: pass AutoKeys, InternalKeys or PlainKeys",
				int(f))
		}
		t.keys = f
		return nil
	}
}

// OpenTable opens the table in a file of size bytes, which r reads. While the table is in use, r
// must stay open and the file must not change. OpenTable reads the footer, the metaindex, the index
// and, with [AutoKeys], the first data block.
//
// It returns
//   - a *[FormatError] if the file does not end in LevelDB's magic number, or has RocksDB's
//     properties;
//   - a *[CorruptionError] if bytes of the file are wrong; it wraps [ErrTooLarge] or
//     [ErrCompression] if they may be right but cannot be read here;
//   - an error that wraps that of r if r fails;
//   - the error of an option that refuses its argument.
func OpenTable(r io.ReaderAt, size int64, opts ...TableOption) (*Table, error) {
	t := &Table{blocks: blockReader{file: r}}
	for _, opt := range opts {
		if opt == nil {
			return nil, errNilOption
		}
		if err := opt(t); err != nil {
			return nil, err
		}
	}
	if err := t.checkFormat(size); err != nil {
		return nil, err
	}
	if size < footerLen {
		return nil, t.fail(0, fmt.Errorf("%d bytes are too short for a footer", size))
	}
	var footer [footerLen]byte
	if err := readFull(r, footer[:], size-footerLen); err != nil {
		return nil, t.fail(size-footerLen, err)
	}
	metaindex, index, err := decodeFooter(footer[:])
	if err != nil {
		return nil, t.fail(size-footerLen, fmt.Errorf("footer: %w", err))
	}
	t.blocks.size = uint64(size - footerLen)
	for _, h := range []BlockHandle{metaindex, index} {
		if err := t.blocks.check(h); err != nil {
			return nil, t.fail(size-footerLen, fmt.Errorf("footer: %w", err))
		}
	}
	t.indexOffset = int64(index.Offset)
	if err := t.readMetaindex(metaindex); err != nil {
		return nil, t.fail(int64(metaindex.Offset), fmt.Errorf("metaindex: %w", err))
	}
	if t.ofRocksDB {
		return nil, &FormatError{File: t.name, Format: magic.RocksDB.String()}
	}
	if err := t.readIndex(index); err != nil {
		return nil, t.fail(int64(index.Offset), fmt.Errorf("index: %w", err))
	}
	t.keysFound = t.keys
	if t.keys == AutoKeys {
		t.keysFound = t.inferKeys()
	}
	return t, nil
}

// checkFormat returns an error if the file is no table in LevelDB's format.
func (t *Table) checkFormat(size int64) error {
	format, number, err := magic.Of(t.blocks.file, size)
	switch {
	case err == io.ErrUnexpectedEOF:
		return t.fail(size-magic.Len, err)
	case err != nil:
		return t.fail(size-magic.Len, &readError{err})
	case format == magic.LevelDB:
		return nil
	case format == magic.Unknown:
		return &FormatError{File: t.name, size: size, magic: number}
	}
	return &FormatError{File: t.name, Format: format.String()}
}

// mustBeOpen panics if t is a zero value.
func (t *Table) mustBeOpen() {
	if t.blocks.file == nil {
		panic(errZeroValue)
	}
}

// fail returns the error for a part of the file: of corruption, unless the cause is a failure to
// read.
func (t *Table) fail(offset int64, cause error) error {
	var read *readError
	if errors.As(cause, &read) {
		return fmt.Errorf("%s: at offset %d: %w", fileName(t.name), offset, read.err)
	}
	return &CorruptionError{t.name, offset, cause}
}

func (t *Table) readMetaindex(h BlockHandle) error {
	return t.eachEntry(h, func(e *entries) error {
		block, _, err := decodeHandle(e.value)
		if err == nil {
			err = t.blocks.check(block)
		}
		if err == nil {
			err = e.checkKeys(maxKeptSharing)
		}
		if err != nil {
			return fmt.Errorf("%.100q: %w", e.key, err)
		}
		if policy, ok := bytes.CutPrefix(e.key, []byte(filterPrefix)); ok {
			t.filters = append(t.filters, FilterEntry{string(policy), block})
		}
		t.ofRocksDB = t.ofRocksDB || string(e.key) == "rocksdb.properties"
		return nil
	})
}

func (t *Table) eachEntry(h BlockHandle, f func(*entries) error) error {
	block, err := t.blocks.read(h)
	if err != nil {
		return err
	}
	return eachEntryOf(block, f)
}

func eachEntryOf(block []byte, f func(*entries) error) error {
	e, err := newEntries(block)
	if err != nil {
		return err
	}
	for {
		if more, err := e.next(); !more {
			return err
		}
		if err := f(e); err != nil {
			return err
		}
	}
}

// inferKeys applies the rule that AutoKeys documents.
func (t *Table) inferKeys() KeyFormat {
	var inferred keyInference
	for i := range t.index.len() {
		inferred.add(t.index.key(i))
	}
	if t.index.len() > 0 {
		inferred.before = nil
		// If the block is damaged, Entries says so.
		_ = t.eachEntry(t.index.handles[0], func(e *entries) error {
			inferred.add(e.key)
			return nil
		})
	}
	return inferred.format()
}

// Keys returns the format of the keys: the one given to [WithKeys], or the one that [AutoKeys]
// found, which is InternalKeys or PlainKeys.
func (t *Table) Keys() KeyFormat {
	t.mustBeOpen()
	return t.keysFound
}

// Filters returns the filters of the table, in the order of the metaindex.
func (t *Table) Filters() []FilterEntry {
	t.mustBeOpen()
	return slices.Clone(t.filters)
}

// Blocks returns the number of data blocks.
func (t *Table) Blocks() int {
	t.mustBeOpen()
	return t.index.len()
}

// IndexSize returns the number of bytes of the index block, uncompressed.
func (t *Table) IndexSize() int64 {
	t.mustBeOpen()
	return t.index.size
}

// Block returns the handle of data block i, 0 <= i < Blocks(). It panics for any other i. Data
// blocks lie in the file in this order.
func (t *Table) Block(i int) BlockHandle {
	t.mustBeOpen()
	return t.index.handles[i]
}

// readBlock returns the contents of any block, decompressed, its checksum compared. The contents
// are the caller's.
func (t *Table) readBlock(h BlockHandle) ([]byte, error) {
	block, err := t.blocks.read(h)
	if err != nil {
		return nil, t.fail(h.offset(), err)
	}
	return slices.Clone(block), nil
}
