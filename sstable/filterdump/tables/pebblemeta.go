package tables

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"

	"github.com/levelbloom/levelbloom/sstable"
)

// Names in the metaindex.
const (
	metaProperties = "rocksdb.properties"
	metaValueIndex = "pebble.value_index" // its handle has 3 bytes more
	metaDictionary = "rocksdb.compression_dict"
	metaRangeDels  = "rocksdb.range_del"
	metaRangeDels2 = "rocksdb.range_del2"
)

// Names of properties.
const (
	propComparer  = "rocksdb.comparator"
	propMerger    = "rocksdb.merge.operator"
	propPolicy    = "rocksdb.filter.policy"
	propIndexType = "rocksdb.block.based.table.index.type"
	propKeySchema = "pebble.colblk.schema"
)

type metaEntry struct {
	name   string
	handle block.Handle
}

// readMetaindex returns what the metaindex of a table of this format lists. Of the blocks in a metaindex only those that
// are read later are checked then.
func (r *pebbleBlocks) readMetaindex(h block.Handle, format pebblesst.TableFormat) ([]metaEntry, error) {
	contents, err := r.read(h)
	if err != nil {
		return nil, err
	}
	var entries []metaEntry
	err = walkPairs(contents, format >= pebblesst.TableFormatPebblev6, func(name, value []byte) error {
		handle, n := decodeHandle(value)
		rest := 0
		if string(name) == metaValueIndex {
			rest = 3
		}
		if n == 0 || n+rest != len(value) {
			return fmt.Errorf("%q has a bad block handle", name)
		}
		if _, twice := find(entries, string(name)); twice { // Pebble's reader would take the other one
			return fmt.Errorf("%q is there twice", name)
		}
		entries = append(entries, metaEntry{string(name), handle})
		return nil
	})
	if err != nil {
		return nil, r.corrupt(h.Offset, fmt.Errorf("metaindex: %w", err))
	}
	return entries, nil
}

// readProperties returns the properties of a table of this format.
func (r *pebbleBlocks) readProperties(h block.Handle, format pebblesst.TableFormat) (map[string]string, error) {
	contents, err := r.read(h)
	if err != nil {
		return nil, err
	}
	properties := map[string]string{}
	err = walkPairs(contents, format >= pebblesst.TableFormatPebblev7, func(name, value []byte) error {
		properties[string(name)] = string(value)
		return nil
	})
	if err == nil && len(properties) == 0 {
		err = errors.New("there are none")
	}
	if v, ok := properties[propIndexType]; err == nil && ok && len(v) != 4 {
		err = fmt.Errorf("%s has %d bytes, not 4", propIndexType, len(v))
	}
	if err != nil {
		return nil, r.corrupt(h.Offset, fmt.Errorf("properties: %w", err))
	}
	return properties, nil
}

// walkPairs calls f for the entries of a metaindex or of properties.
func walkPairs(contents []byte, columnar bool, f func(key, value []byte) error) error {
	if !columnar {
		return walkRows(contents, f)
	}
	b, err := newColBlock(contents, 0, colblk.DataTypeBytes, colblk.DataTypeBytes)
	if err != nil {
		return err
	}
	keys, err := b.bytes(0)
	if err != nil {
		return err
	}
	values, err := b.bytes(1)
	if err != nil {
		return err
	}
	for row := range b.rows {
		if err := f(keys.at(row), values.at(row)); err != nil {
			return err
		}
	}
	return nil
}

func find(entries []metaEntry, name string) (block.Handle, bool) {
	i := slices.IndexFunc(entries, func(e metaEntry) bool { return e.name == name })
	if i < 0 {
		return block.Handle{}, false
	}
	return entries[i].handle, true
}

// readFilters returns the filter whose encoding is known, or else the first, and the names of others. RocksDB has further
// kinds, of which Pebble reads none: they are named as in the metaindex.
func (r *pebbleBlocks) readFilters(entries []metaEntry, o Options) (f *Filters, others []string, err error) {
	var filters []sstable.FilterEntry
	for _, e := range entries {
		if policy, ok := strings.CutPrefix(e.name, "fullfilter."); ok {
			h := sstable.BlockHandle{Offset: e.handle.Offset, Length: e.handle.Length}
			filters = append(filters, sstable.FilterEntry{Policy: policy, Whole: true, Handle: h})
		} else if strings.HasPrefix(e.name, "filter.") || strings.HasPrefix(e.name, "partitionedfilter.") {
			others = append(others, e.name)
		}
	}
	if len(filters) == 0 {
		return nil, others, nil
	}
	use, rest := chooseFilter(filters, o)
	others = append(others, rest...)
	contents, err := r.read(block.Handle{Offset: use.Handle.Offset, Length: use.Handle.Length})
	if err != nil {
		return nil, nil, err
	}
	f = &Filters{Policy: use.Policy, Bytes: int64(len(contents)), Each: [][]byte{slices.Clone(contents)}}
	f.Encoding, f.Presumed = encodingOf(use, o)
	return f, others, nil
}
