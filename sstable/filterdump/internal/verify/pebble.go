package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/block/blockkind"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// openPebble opens a table in one of Pebble's formats, the oldest of which was RocksDB's.
func (f File) openPebble(file pebbleFile, r *Result) (*table, error) {
	// All errors but those of the file are damage.
	failed := func(err error) error {
		var read *fs.PathError
		if err == nil || errors.As(err, &read) {
			return err
		}
		return &sstable.CorruptionError{File: file.Name(), Offset: -1, Cause: err}
	}
	reader, err := newReader(file, f.Merger)
	if err != nil {
		return nil, failed(err)
	}
	t := &table{}
	if err := f.describe(reader, t, r); err != nil {
		return nil, failed(err)
	}
	t.keys = func(take func(filter uint64, key []byte)) error {
		var blobs pebblesst.TableBlobContext
		blobs.BlobHandleFn = noValue
		iter, err := reader.NewIter(pebblesst.NoTransforms, nil, nil, blobs)
		if err != nil {
			return failed(err)
		}
		for kv := iter.First(); kv != nil; kv = iter.Next() {
			take(0, kv.K.UserKey) // one filter for all keys, if there is any
		}
		return failed(iter.Close())
	}
	return t, nil
}

// These match errors of Pebble's reader: for a version of the format, and for a name, that it does
// not know, and for what only RocksDB writes. A name that is empty is damage.
var (
	notRead = regexp.MustCompile(`(?s)unsupported pebble format version \d+` +
		`|unknown (comparer|merger|key schema) "?([^"]+)`)
	ofRocksDB = regexp.MustCompile(`unsupported (rocksdb format version|checksum type)`)
)

// newReader opens a table with Pebble's default comparer and key schema, and with its database's
// merger, or any if that is not known, because nothing is merged: only an error tells its name.
func newReader(f pebbleFile, merger string) (r *pebblesst.Reader, err error) {
	o := pebblesst.ReaderOptions{Merger: &pebblesst.Merger{Name: merger}}
	err = Guard(func() (err error) { // it panics on an unknown key schema
		r, err = pebblesst.NewReader(context.Background(), f, o)
		return err
	})
	if err == nil {
		return r, nil
	}
	switch m := notRead.FindStringSubmatch(err.Error()); {
	case f.format == magic.RocksDB && ofRocksDB.MatchString(err.Error()):
		return nil, errRocksDB
	case m == nil:
		return nil, err
	case m[1] == "merger" && merger == "":
		return newReader(f, m[2])
	default:
		return nil, fmt.Errorf("%w: %s", errNotRead, strings.ReplaceAll(m[0], `"`, ""))
	}
}

// describe fills in what the table's properties and its layout tell.
func (f File) describe(reader *pebblesst.Reader, t *table, r *Result) error {
	properties, err := reader.ReadPropertiesBlock(context.Background(), nil)
	if err != nil {
		return err
	}
	layout, err := reader.Layout()
	if err != nil {
		return err
	}
	for _, b := range append(layout.Index, layout.TopIndex) {
		r.IndexBytes += int64(b.Length)
	}
	// No checksum covers the version in the footer of Pebble v5 and before.
	if schema := properties.KeySchemaName; schema != "" && !layout.Format.BlockColumnar() {
		return fmt.Errorf("a table of %s with the key schema %q", layout.Format, schema)
	}
	// RocksDB's filters may be in parts, or know prefixes that only an extractor knows. In old
	// Pebble's tables the extractor is the comparer.
	extractor, isThere := properties.UserProperties["rocksdb.prefix.extractor.name"]
	knowsPrefixes := properties.UserProperties["rocksdb.block.based.table.prefix.filtering"] == "1"
	_, ofRocksDB := properties.UserProperties["rocksdb.creating.session.identity"] // since 2020
	if ofRocksDB || !slices.Contains([]string{"", "nullptr", properties.ComparerName}, extractor) ||
		knowsPrefixes && !isThere || len(layout.Filter) == 0 && properties.FilterPolicyName != "" {
		return errRocksDB
	}
	if len(layout.Filter) == 0 {
		return nil
	}
	named := layout.Filter[0] // no engine writes more
	contents, err := reader.BlockReader().Read(context.Background(), block.NoReadEnv, nil,
		named.Handle, blockkind.Filter, func(*block.Metadata, []byte) error { return nil })
	if err != nil {
		return err
	}
	defer contents.Release()
	r.Policy, r.FilterBytes = strings.TrimPrefix(named.Name, "fullfilter."), int64(named.Length)
	t.filters = f.filtersOf(r.Policy, true)
	t.filters.each = [][]byte{slices.Clone(contents.BlockData())}
	return nil
}

// noValue spares Pebble's reader the way to values in other files. It is generic because Pebble's
// type of values has no name outside of Pebble.
func noValue[V any](blob.InlineHandlePreface, []byte) (v V) { return v }

// A pebbleFile gives Pebble's reader a file, and checks each block's checksum before the reader
// does: that one would search for the bit that makes a wrong one right, in time quadratic in the
// block's size, which is 1 MB for the filter of a million keys.
type pebbleFile struct{ tableFile }

// ReadAt reads the footer, which ends where the file does, or a block.
func (f pebbleFile) ReadAt(_ context.Context, p []byte, offset int64) error {
	n := len(p) - block.TrailerLen
	if n < 0 || offset < 0 || offset > f.size-int64(len(p)) {
		return fmt.Errorf("a block at offset %d does not fit into the file", offset)
	}
	if _, err := f.File.ReadAt(p, offset); err != nil || offset+int64(len(p)) == f.size {
		return err
	}
	const crc, xxHash = block.ChecksumTypeCRC32c, block.ChecksumTypeXXHash64
	for _, kind := range []block.ChecksumType{crc, xxHash} { // the reader knows which
		sums := block.Checksummer{Type: kind}
		if sums.Checksum(p[:n], p[n]) == binary.LittleEndian.Uint32(p[n+1:]) {
			return nil
		}
	}
	return fmt.Errorf("the block at offset %d does not match its checksum", offset)
}

func (f pebbleFile) Size() int64 { return f.size }

func (f pebbleFile) NewReadHandle(objstorage.ReadBeforeSize) objstorage.ReadHandle {
	handle := objstorage.MakeNoopReadHandle(f)
	return &handle
}
