package sstable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A Table is an open table in LevelDB's format, as [OpenTable] returns it. It keeps the index in
// memory, 24 bytes and the key for each data block, and no data. It needs no closing.
//
// A Table is safe for concurrent use if its reader is.
type Table struct {
	name        string
	blocks      blockReader   // without buffers: whoever reads copies it
	filters     []FilterEntry // in the order of the metaindex
	index       index
	indexOffset int64
	keys        keyFormat // what the keys look like, or are by WithInternalKeys
	inDoubt     bool

	// RocksDB's format_version 0 and a format of Pebble's have LevelDB's magic number, but filters
	// for whole tables, which LevelDB does not know.
	ofRocksDB bool
	ofBasho   bool // it has a meta block that only Basho's LevelDB writes
}

// A FilterEntry is a filter that a table has.
type FilterEntry struct {
	Policy string      // the policy's name
	Handle BlockHandle // of the filter block

	// Foreign says that the filters are not those of LevelDB and levelbloom, although they have
	// LevelDB's name: Basho's LevelDB gave this name to others in 2012, two years before LevelDB.
	Foreign bool
}

// A TableOption is an option of [OpenTable].
type TableOption func(*Table)

// WithFileName sets the name of the file in errors. The file is not opened by this name.
func WithFileName(name string) TableOption {
	return func(t *Table) { t.name = name }
}

// WithInternalKeys says that the keys are internal, because the table is part of a database.
// Without it, they are told from plain ones as the package comment says.
func WithInternalKeys() TableOption {
	return func(t *Table) { t.keys = internalKeys }
}

// OpenTable opens the table in a file of size bytes, which r reads. While the table is in use, r
// must stay open and the file must not change. OpenTable reads the footer, the metaindex, the index
// and the first data block.
//
// It returns
//   - a *[FormatError] if the file does not end in LevelDB's magic number, or has RocksDB's
//     properties;
//   - a *[CorruptionError] if bytes of the file are wrong; it wraps [ErrTooLarge] or
//     [ErrCompression] if they may be right but cannot be read here;
//   - an error that wraps that of r if r fails.
func OpenTable(r io.ReaderAt, size int64, opts ...TableOption) (*Table, error) {
	t := &Table{blocks: blockReader{file: r}}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("sstable: an option is nil: leave it out")
		}
		opt(t)
	}
	metaindex, index, err := t.readFooter(size)
	if err != nil {
		return nil, err
	}
	t.indexOffset = int64(index.Offset)
	if err := t.readMetaindex(metaindex); err != nil {
		return nil, t.fail(int64(metaindex.Offset), fmt.Errorf("metaindex: %w", err))
	}
	if t.ofRocksDB {
		return nil, &FormatError{t.name, string(magic.RocksDB)}
	}
	if err := t.readIndex(index); err != nil {
		return nil, t.fail(int64(index.Offset), fmt.Errorf("index: %w", err))
	}
	if t.keys != internalKeys {
		t.inferKeys()
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
	blocks := t.blocks
	for e, err := range entriesOf(blocks.read(h)) {
		if err != nil {
			return err
		}
		block, err := t.blocks.handleIn(e)
		if err != nil {
			return fmt.Errorf("%.100q: %w", e.key, err)
		}
		if name, ok := bytes.CutPrefix(e.key, []byte(filterPrefix)); ok {
			t.filters = append(t.filters, FilterEntry{Policy: string(name), Handle: block})
		}
		t.ofRocksDB = t.ofRocksDB || string(e.key) == "rocksdb.properties"
		t.ofBasho = t.ofBasho || string(e.key) == "stats.sst1"
	}
	return nil
}

// Filters returns the filters of the table, in the order of the metaindex.
func (t *Table) Filters() []FilterEntry {
	all := slices.Clone(t.filters)
	for i := range all {
		all[i].Foreign = t.ofBasho && all[i].Policy == policy.NameLevelDB
	}
	return all
}

// KeysInDoubt reports whether keys look internal in the data, but not in the index. Entries then
// takes them for plain keys, which may be wrong: goleveldb's RecoverFile writes such tables, with
// filters of internal keys, in which lookups of user keys find nothing.
func (t *Table) KeysInDoubt() bool { return t.inDoubt }

// Blocks returns the number of data blocks.
func (t *Table) Blocks() int { return t.index.len() }

// IndexSize returns the number of bytes of the index block, uncompressed.
func (t *Table) IndexSize() int64 { return t.index.size }

// Block returns the handle of data block i, 0 <= i < Blocks(). It panics for any other i. Data
// blocks lie in the file in this order.
func (t *Table) Block(i int) BlockHandle { return t.index.handles[i] }
