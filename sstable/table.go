package sstable

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Table is an open table in LevelDB's format. It keeps the index in memory, 24 bytes and the key
// for each data block, and no data. It is not safe for concurrent use, but several may read one
// file. It needs no closing.
type Table struct {
	name      string
	keys      KeyFormat // as asked for; AutoKeys if they are not known for sure
	keysFound KeyFormat // what they are, or seem to be

	blocks      blockReader
	metaindex   []MetaEntry
	index       index
	indexOffset int64
}

// A MetaEntry is an entry of the metaindex: a block that is neither data nor index.
type MetaEntry struct {
	Name   string
	Handle BlockHandle
}

// A FilterEntry is a filter that the metaindex names.
type FilterEntry struct {
	Policy string      // the policy's name
	Whole  bool        // one filter for the whole table; otherwise a filter block
	Handle BlockHandle // of the filter or the filter block
}

// A TableOption changes a setting of OpenTable.
type TableOption func(*Table) error

// WithFileName sets the name that errors give to the file.
func WithFileName(name string) TableOption {
	return func(t *Table) error {
		t.name = name
		return nil
	}
}

// WithKeys says what the table's keys are; the default is AutoKeys.
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

const defaultMaxBlock = 256 << 20

// WithMaxBlockSize sets how many bytes a block may have uncompressed, at least 1; the default is
// 256 MiB. The keys of a block may add up to as many. Without such a bound a few KiB that are
// compressed well, or whose keys share much, could take all memory and time. Blocks have 4 KiB
// unless an engine is configured otherwise, but a long value makes a long block.
func WithMaxBlockSize(bytes int64) TableOption {
	return func(t *Table) error {
		if bytes < 1 {
			return fmt.Errorf("sstable: WithMaxBlockSize(%d): pass 1 or more", bytes)
		}
		t.blocks.maxBlock = uint64(min(bytes, math.MaxInt-trailerLen)) // what a slice can hold
		return nil
	}
}

// OpenTable opens the table of the given size that r reads; r must stay open as long as the table
// is in use, and the file should not change. It reads the footer, the metaindex, the index and,
// with AutoKeys, the first data block.
//
// It returns a *[FormatError] if the file does not end in LevelDB's magic number, a
// *[CorruptionError] if bytes of it are wrong, which wraps [ErrTooLarge] or [ErrCompression] if
// they are not wrong but cannot be read, the errors of r, or that of an option.
func OpenTable(r io.ReaderAt, size int64, opts ...TableOption) (*Table, error) {
	t := &Table{blocks: blockReader{file: r, maxBlock: defaultMaxBlock}}
	for _, opt := range opts {
		if opt == nil {
			return nil, errNilOption
		}
		if err := opt(t); err != nil {
			return nil, err
		}
	}
	magic, err := readMagic(r, size)
	if err != nil {
		return nil, t.fail(size-magicLen, err)
	}
	if magic != magicLevelDB {
		return nil, &FormatError{t.name, formats[magic], size, magic}
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
	if err := t.readIndex(index); err != nil {
		return nil, t.fail(int64(index.Offset), fmt.Errorf("index: %w", err))
	}
	if t.keys == AutoKeys && t.hasProperties() {
		t.keys = InternalKeys
	}
	t.keysFound = t.keys
	if t.keys == AutoKeys {
		t.keysFound = t.inferKeys()
	}
	return t, nil
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
		t.metaindex = append(t.metaindex, MetaEntry{string(e.key), block})
		return nil
	})
}

func (t *Table) eachEntry(h BlockHandle, f func(*entries) error) error {
	block, err := t.blocks.read(h)
	if err != nil {
		return err
	}
	e, err := newEntries(block, t.blocks.maxBlock)
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

// hasProperties reports whether the table has RocksDB's properties: then its keys are internal, for
// sure.
func (t *Table) hasProperties() bool {
	return slices.ContainsFunc(t.metaindex, func(e MetaEntry) bool {
		return e.Name == "rocksdb.properties"
	})
}

// inferKeys is the rest of the rule that AutoKeys documents.
func (t *Table) inferKeys() KeyFormat {
	var inferred keyInference
	for i := range t.index.len() {
		inferred.add(t.index.key(i))
	}
	if t.index.len() > 0 {
		inferred.before = nil
		// Whoever reads the block finds out if it is damaged.
		_ = t.eachEntry(t.index.handles[0], func(e *entries) error {
			inferred.add(e.key)
			return nil
		})
	}
	return inferred.format()
}

// Keys returns the format of the keys: as WithKeys said, or what AutoKeys found, which is then
// InternalKeys or PlainKeys.
func (t *Table) Keys() KeyFormat { return t.keysFound }

// Metaindex returns the entries of the metaindex in their order.
func (t *Table) Metaindex() []MetaEntry { return slices.Clone(t.metaindex) }

// Filters returns the filters that the metaindex names, in its order.
func (t *Table) Filters() (filters []FilterEntry) {
	for _, e := range t.metaindex {
		if policy, ok := strings.CutPrefix(e.Name, windowFilterPrefix); ok {
			filters = append(filters, FilterEntry{policy, false, e.Handle})
		} else if policy, ok := strings.CutPrefix(e.Name, wholeFilterPrefix); ok {
			filters = append(filters, FilterEntry{policy, true, e.Handle})
		}
	}
	return filters
}

// Blocks returns the number of data blocks.
func (t *Table) Blocks() int { return t.index.len() }

// Block returns the handle of data block i, 0 <= i < Blocks(). Data blocks lie in the file in this
// order.
func (t *Table) Block(i int) BlockHandle { return t.index.handles[i] }

// ReadBlock returns the contents of any block, decompressed, its checksum compared. Its errors are
// those of OpenTable.
func (t *Table) ReadBlock(h BlockHandle) ([]byte, error) {
	block, err := t.blocks.read(h)
	if err != nil {
		return nil, t.fail(h.offset(), err)
	}
	return slices.Clone(block), nil
}
