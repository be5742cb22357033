package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/block/blockkind"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"

	"github.com/levelbloom/levelbloom/sstable"
)

// pebbleTable is a table in one of Pebble's formats, the oldest of which is RocksDB's.
type pebbleTable struct {
	path       string
	file       *pebbleFile
	reader     *pebblesst.Reader
	info       Info
	unreadable error // why the keys cannot be read, if they cannot

	seeker pebblesst.Iterator // for Seek
}

func openPebble(path string, file *os.File, size int64, bloom []string) (Table, error) {
	t := &pebbleTable{path: path, info: Info{Size: size}}
	var err error
	if t.file, t.info.Format, err = newPebbleFile(path, file, size); err != nil {
		return nil, err
	}
	if t.reader, err = openReader(t.file); err == nil {
		err = t.describe(bloom)
	}
	if err != nil {
		return nil, t.failed(err)
	}
	return t, nil
}

// unknownName matches the errors of Pebble's reader for names that its options do not have.
var unknownName = regexp.MustCompile(
	`(?s)pebble/table: \d+: unknown (comparer|merger|key schema) "?(.*?)("; known key schemas: .*)?$`)

// openReader opens a table whatever its comparer, merger and key schema are: nothing is compared or
// merged. Only the reader's errors tell their names, one at a time.
func openReader(file *pebbleFile) (r *pebblesst.Reader, err error) {
	o := pebblesst.ReaderOptions{
		Comparers:  pebblesst.Comparers{},
		Mergers:    pebblesst.Mergers{},
		KeySchemas: pebblesst.KeySchemas{},
	}
	const names = 3
	for range names + 1 {
		if r, err = newReader(file, o); err == nil {
			break
		}
		m := unknownName.FindStringSubmatch(err.Error())
		if m == nil {
			break
		}
		switch kind, name := m[1], m[2]; kind {
		case "comparer":
			comparer := *pebblesst.DefaultComparer
			comparer.Name = name
			o.Comparers[name] = &comparer
		case "merger":
			o.Mergers[name] = &pebblesst.Merger{Name: name}
		default:
			schema := keySchema(name)
			o.KeySchemas[name] = &schema
		}
	}
	return r, err
}

// newReader is Pebble's NewReader with an error instead of its panic on an unknown key schema.
func newReader(file *pebbleFile, o pebblesst.ReaderOptions) (r *pebblesst.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			err, _ = p.(error)
			if err == nil || !unknownName.MatchString(err.Error()) {
				panic(p)
			}
		}
	}()
	return pebblesst.NewReader(context.Background(), file, o)
}

// describe fills in what the table's properties and its layout tell.
func (t *pebbleTable) describe(bloom []string) error {
	properties, err := t.reader.ReadPropertiesBlock(context.Background(), nil)
	if err != nil {
		return err
	}
	layout, err := t.reader.Layout()
	if err != nil {
		return err
	}
	if err := checkAscending(t.path, layout.Data); err != nil {
		return err
	}
	t.info.Comparer = properties.ComparerName
	for _, b := range append(layout.Index, layout.TopIndex) {
		t.info.IndexBytes += int64(b.Length)
	}
	t.file.data = layout.Data
	if err := t.readFilter(layout, bloom); err != nil {
		return err
	}
	format, err := t.reader.TableFormat()
	if err != nil {
		return err
	}
	schema := properties.KeySchemaName
	// No checksum covers the version in the footer of Pebble v5 and before.
	if len(properties.Loaded) == 0 || format.BlockColumnar() != (schema != "") {
		return fmt.Errorf("a table of %s with %d properties and the key schema %q",
			t.info.Format, len(properties.Loaded), schema)
	}
	// RocksDB's filters may know prefixes that only an extractor knows, or be in parts.
	extractor := properties.UserProperties["rocksdb.prefix.extractor.name"]
	if !slices.Contains([]string{"", "nullptr", t.info.Comparer}, extractor) ||
		t.info.Filters == nil && properties.FilterPolicyName != "" {
		return &UnsupportedError{t.path, t.info.Format,
			"it has filters of RocksDB that Pebble does not have"}
	}
	if !format.BlockColumnar() && t.info.Comparer != bytewise {
		// Rows have whole keys, and only the comparer knows which part the filters know.
		t.info.Unverified = fmt.Sprintf("the comparer %s is not known here, so neither is the part "+
			"of a key that filters know", t.info.Comparer)
	} else if format.BlockColumnar() && !strings.HasPrefix(schema, "DefaultKeySchema(") {
		// Columns of Pebble's own schema have the part that filters know for themselves.
		t.info.Unverified = fmt.Sprintf(
			"the keys cannot be read, because the key schema %s is not known here", schema)
		t.unreadable = &UnsupportedError{t.path, t.info.Format, t.info.Unverified}
	}
	return nil
}

// checkAscending returns an error if a data block begins before the end of the one before it, as
// package sstable does for LevelDB's tables: an index that names a block twice is forged.
func checkAscending(path string, blocks []block.HandleWithProperties) error {
	var end uint64
	for i, b := range blocks {
		if b.Offset < end {
			return &sstable.CorruptionError{File: path, Offset: int64(b.Offset), Cause: fmt.Errorf(
				"data block %d begins before the end of the block before it", i)}
		}
		end = b.Offset + b.Length + block.TrailerLen
	}
	return nil
}

func (t *pebbleTable) readFilter(layout *pebblesst.Layout, bloom []string) error {
	var entries []sstable.FilterEntry
	for _, f := range layout.Filter {
		entries = append(entries, sstable.FilterEntry{
			Policy: strings.TrimPrefix(f.Name, "fullfilter."),
			Handle: sstable.BlockHandle{Offset: f.Offset, Length: f.Length},
		})
	}
	if len(entries) == 0 {
		return nil
	}
	known := knownFilters(bloom)
	known["rocksdb.BuiltinBloomFilter"] = PebbleFilters{}
	handle, found := chooseFilter(entries, known)
	contents, err := t.reader.BlockReader().Read(context.Background(), block.NoReadEnv, nil,
		block.Handle{Offset: handle.Offset, Length: handle.Length}, blockkind.Filter,
		func(*block.Metadata, []byte) error { return nil })
	if err != nil {
		return err
	}
	defer contents.Release()
	filter := slices.Clone(contents.BlockData())
	found.Layout, found.Bytes, found.Each = PerTable, int64(len(filter)), [][]byte{filter}
	t.info.Filters = found
	return nil
}

// failed returns an error of Pebble's reader as one of this package.
func (t *pebbleTable) failed(err error) error {
	var read *fs.PathError
	var corrupt *sstable.CorruptionError
	var unsupported *UnsupportedError
	switch {
	case err == nil, errors.As(err, &read), errors.As(err, &unsupported):
		return err
	case errors.As(err, &corrupt):
		return corrupt
	}
	return &sstable.CorruptionError{File: t.path, Offset: -1, Cause: err}
}

func (t *pebbleTable) Info() *Info { return &t.info }

func (t *pebbleTable) Keys(f func(filter int, key []byte) error) error {
	if t.unreadable != nil {
		return t.unreadable
	}
	iter, err := t.reader.NewIter(pebblesst.NoTransforms, nil, nil, noValues())
	if err != nil {
		return t.failed(err)
	}
	var stopped error
	const filter = 0 // one for all keys, if there is any
	for kv := iter.First(); kv != nil && stopped == nil; kv = iter.Next() {
		stopped = f(filter, kv.K.UserKey)
	}
	if err := iter.Close(); stopped == nil {
		return t.failed(err)
	}
	return stopped
}

// Locate returns the index of the only filter.
func (t *pebbleTable) Locate([]byte) int { return 0 }

func (t *pebbleTable) Seek(key []byte) (found []byte, blocks int, err error) {
	if t.unreadable != nil {
		return nil, 0, t.unreadable
	}
	if t.seeker == nil {
		t.seeker, err = t.reader.NewIter(pebblesst.NoTransforms, nil, nil, noValues())
		if err != nil {
			return nil, 0, t.failed(err)
		}
	}
	before := t.file.dataReads
	kv := t.seeker.SeekGE(key, 0)
	if kv == nil {
		return nil, t.file.dataReads - before, t.failed(t.seeker.Error())
	}
	// The iterator still has the block of the seek before.
	return slices.Clone(kv.K.UserKey), max(1, t.file.dataReads-before), nil
}

// Window calls f for no key: a filter is one for the whole table.
func (t *pebbleTable) Window([]byte, func(key []byte)) error { return nil }

func (t *pebbleTable) Close() error {
	if t.seeker != nil {
		_ = t.seeker.Close() // its error was returned by the seek
	}
	return t.reader.Close()
}

// keySchema returns Pebble's own key schema under another name, with the first column for the key:
// what the comparer's Split returned.
func keySchema(name string) colblk.KeySchema {
	const bundleSize = 16 // only a writer uses it
	schema := colblk.DefaultKeySchema(pebblesst.DefaultComparer, bundleSize)
	seeker := schema.KeySeeker
	schema.Name = name
	schema.KeySeeker = func(meta *colblk.KeySeekerMetadata) colblk.KeySeeker {
		return prefixSeeker{seeker(meta)}
	}
	return schema
}

type prefixSeeker struct{ colblk.KeySeeker }

func (s prefixSeeker) MaterializeUserKey(it *colblk.PrefixBytesIter, prevRow, row int) []byte {
	s.KeySeeker.MaterializeUserKey(it, prevRow, row)
	return it.Buf // the seeker appends the suffix at its end
}
