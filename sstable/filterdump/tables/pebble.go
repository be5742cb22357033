package tables

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"

	"github.com/levelbloom/levelbloom/sstable"
)

// pebbleTable is a table in one of Pebble's formats, or in the format of RocksDB that Pebble reads. Its keys come from Pebble's
// reader, after a look at every block whether it may be trusted with it; what Info tells is read without it.
type pebbleTable struct {
	blocks     *pebbleBlocks
	info       Info
	footer     pebbleFooter
	properties map[string]string
	twoLevels  bool  // the index has an index
	unreadable error // why the keys cannot be read, if they cannot
	checked    bool
}

// openPebble opens a table whose magic number is Pebble's or RocksDB's. It takes the file over unless it returns an error: a
// *sstable.CorruptionError, an *UnsupportedError, or one of reading the file.
func openPebble(path string, file *os.File, size int64, o Options) (Table, error) {
	end := make([]byte, min(size, int64(pebblesst.TableFormatMax.FooterSize())))
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil && err != io.EOF {
		return nil, err
	}
	footer, err := decodePebbleFooter(end)
	t := &pebbleTable{
		blocks: &pebbleBlocks{path: path, format: footer.String(), file: file, size: size},
		footer: footer,
		info:   Info{Format: footer.String(), Size: size},
	}
	if err != nil {
		return nil, t.blocks.corrupt(uint64(size)-uint64(len(end)), err)
	}
	if err := t.open(o); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *pebbleTable) open(o Options) error {
	if t.footer.format == pebblesst.TableFormatUnspecified {
		return t.unknownVersion()
	}
	if !t.knownChecksums() {
		if name := rocksDBChecksums[t.footer.checksum]; t.footer.rocksDB && name != "" {
			return t.blocks.unsupported("blocks have %s checksums, which Pebble's reader does not know", name)
		}
		footer := uint64(t.info.Size) - uint64(t.footer.format.FooterSize())
		return t.blocks.corrupt(footer, fmt.Errorf("checksums of kind %d", t.footer.checksum))
	}
	t.blocks.sums.Init(t.footer.checksum)
	meta, err := t.blocks.readMetaindex(t.footer.metaindex, t.footer.format)
	if err != nil {
		return err
	}
	properties, ok := find(meta, metaProperties)
	if !ok {
		return t.blocks.corrupt(t.footer.metaindex.Offset, errors.New("the metaindex has no properties"))
	}
	if t.properties, err = t.blocks.readProperties(properties, t.footer.format); err != nil {
		return err
	}
	// The version in the footer of Pebble v5 and before has no checksum.
	if schema := t.properties[propKeySchema]; t.footer.format.BlockColumnar() != (schema != "") {
		return t.blocks.corrupt(properties.Offset, fmt.Errorf("a table of %s with key schema %q", t.footer, schema))
	}
	if index := t.properties[propIndexType]; index != "" {
		const twoLevels = 2
		t.twoLevels = binary.LittleEndian.Uint32([]byte(index)) == twoLevels
	}
	if t.info.Filters, t.info.Others, err = t.blocks.readFilters(meta, o); err != nil {
		return err
	}
	t.info.Comparer = t.properties[propComparer]
	t.judge(meta)
	return nil
}

func (t *pebbleTable) knownChecksums() bool {
	return t.footer.checksum == block.ChecksumTypeCRC32c || t.footer.checksum == block.ChecksumTypeXXHash64
}

// rocksDBChecksums are those of RocksDB that Pebble does not compute.
var rocksDBChecksums = map[block.ChecksumType]string{0: "no", 2: "xxHash", 4: "XXH3"}

// unknownVersion returns an error that names the filters' policy, if it can be found out.
func (t *pebbleTable) unknownVersion() error {
	if !t.footer.rocksDB {
		_, newest := pebblesst.TableFormatMax.AsTuple()
		return t.blocks.unsupported("Pebble's reader here knows Pebble v1 to v%d", newest)
	}
	filters := ""
	if policy := t.rocksDBPolicy(); policy != "" {
		filters = fmt.Sprintf(" (the filter policy is %s)", policy)
	}
	return t.blocks.unsupported("Pebble's reader, which is used here, knows format_version 2 only%s", filters)
}

// rocksDBPolicy returns the name that the properties of RocksDB's format_version 1 to 5 have for the filter policy, "" if it
// is not to be found. Not all of RocksDB's checksums are known here; a wrong name would do no harm.
func (t *pebbleTable) rocksDBPolicy() string {
	if t.footer.version > 5 {
		return ""
	}
	t.blocks.sums.Init(t.footer.checksum)
	t.blocks.trust = !t.knownChecksums()
	meta, err := t.blocks.readMetaindex(t.footer.metaindex, pebblesst.TableFormatRocksDBv2)
	if err != nil {
		return ""
	}
	h, ok := find(meta, metaProperties)
	if !ok {
		return ""
	}
	properties, err := t.blocks.readProperties(h, pebblesst.TableFormatRocksDBv2)
	if err != nil {
		return ""
	}
	return properties[propPolicy]
}

// judge finds out whether the keys can be read and be compared with the filter.
func (t *pebbleTable) judge(meta []metaEntry) {
	_, rangeDels := find(meta, metaRangeDels)
	_, rangeDels2 := find(meta, metaRangeDels2)
	_, dictionary := find(meta, metaDictionary)
	columnar, schema := t.footer.format.BlockColumnar(), t.properties[propKeySchema]
	switch {
	case columnar && hasKeyColumns(schema):
		return // it does not take the comparer to know what Split returned
	case columnar:
		t.info.Unverified = fmt.Sprintf("the keys cannot be read, because the key schema %s is not known here", schema)
	case dictionary:
		t.info.Unverified = "the keys cannot be read, because Pebble's reader does not know RocksDB's dictionaries"
	case rangeDels && !rangeDels2:
		t.info.Unverified = "the keys cannot be read, because Pebble's reader refuses RocksDB's range deletions"
	default:
		t.info.Unverified = unknownPrefixRule(t.properties)
		return
	}
	t.unreadable = t.blocks.unsupported("%s", t.info.Unverified)
}

func (t *pebbleTable) Info() *Info { return &t.info }

// Keys implements Table. It returns an *UnsupportedError for keys that cannot be read; Info then has a table Unverified.
func (t *pebbleTable) Keys(f func(filter int, key []byte) error) error {
	if t.unreadable != nil {
		return t.unreadable
	}
	if !t.checked {
		if err := t.checkKeys(); err != nil {
			return err
		}
		t.checked = true
	}
	file := newReadable(t.blocks.file, t.info.Size)
	reader, err := pebblesst.NewReader(context.Background(), file, pebbleReaderOptions(t.properties))
	if err != nil {
		return t.failed(err)
	}
	defer reader.Close()
	iter, err := reader.NewIter(pebblesst.NoTransforms, nil, nil, noValues())
	if err != nil {
		return t.failed(err)
	}
	var stopped error
	filter := t.Locate(nil)
	for kv := iter.First(); kv != nil && stopped == nil; kv = iter.Next() {
		stopped = f(filter, kv.K.UserKey)
	}
	if err := iter.Close(); stopped == nil {
		return t.failed(err)
	}
	return stopped
}

// failed returns an error of Pebble's reader as one of the file's bytes, unless reading the file failed.
func (t *pebbleTable) failed(err error) error {
	var read *fs.PathError
	if err == nil || errors.As(err, &read) {
		return err
	}
	return &sstable.CorruptionError{File: t.blocks.path, Offset: -1, Cause: err}
}

func (t *pebbleTable) Locate([]byte) int {
	if t.info.Filters == nil {
		return -1
	}
	return 0
}

func (t *pebbleTable) Close() error { return t.blocks.file.Close() }
