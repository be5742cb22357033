package tables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/block/blockkind"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// pebbleTable is a table in one of Pebble's formats, the oldest of which is RocksDB's.
type pebbleTable struct {
	path   string
	reader *pebblesst.Reader
	info   Info
}

func openPebble(f tableFile, o Options) (Table, error) {
	reader, err := openReader(pebbleFile{f}, nil)
	t := &pebbleTable{path: f.Name(), reader: reader, info: Info{Size: f.size}}
	if err == nil {
		err = t.describe(o.Policies)
	}
	return t, t.failed(err)
}

// notKnown matches the errors of Pebble's reader for a version of the format, and for a name, that
// it does not know. A name that is empty is damage, and so is another kind of checksums in Pebble's
// own formats.
var notKnown = regexp.MustCompile(`(?s)(unsupported \w+ format version \d+)|` +
	`: unknown (comparer|merger|key schema) "?([^"].*?)("; known key schemas: .*)?$`)

// openReader opens a table with Pebble's default comparer and key schema, under which filters know
// whole keys, and with any merger, because nothing is merged: only an error tells its name.
func openReader(f pebbleFile, merger *pebblesst.Merger) (*pebblesst.Reader, error) {
	r, err := Guard(func() (*pebblesst.Reader, error) { // it panics on an unknown key schema
		return pebblesst.NewReader(context.Background(), f, pebblesst.ReaderOptions{Merger: merger})
	})
	if err == nil {
		return r, nil
	}
	m := notKnown.FindStringSubmatch(err.Error())
	switch {
	case f.format == magic.RocksDB && strings.Contains(err.Error(), "unsupported checksum type"):
		return nil, fmt.Errorf("%w: checksums of RocksDB that Pebble does not have", ErrUnsupported)
	case m == nil:
		return nil, err
	case m[1] != "":
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, m[1])
	case m[2] == "merger" && merger == nil:
		return openReader(f, &pebblesst.Merger{Name: m[3]})
	}
	return nil, fmt.Errorf("the %s %s is %w", m[2], m[3], ErrUnknown)
}

// describe fills in what the table's properties and its layout tell.
func (t *pebbleTable) describe(patterns []string) error {
	properties, err := t.reader.ReadPropertiesBlock(context.Background(), nil)
	if err != nil {
		return err
	}
	layout, err := t.reader.Layout()
	if err != nil {
		return err
	}
	version := strings.Trim(layout.Format.String(), "()") // "Pebble,v4"
	t.info.Format = strings.ReplaceAll(version, ",", " ")
	t.info.Comparer = properties.ComparerName
	for _, b := range append(layout.Index, layout.TopIndex) {
		t.info.IndexBytes += int64(b.Length)
	}
	if err := t.readFilter(layout, patterns); err != nil {
		return err
	}
	// No checksum covers the version in the footer of Pebble v5 and before.
	if schema := properties.KeySchemaName; schema != "" && !layout.Format.BlockColumnar() {
		return fmt.Errorf("a table of %s with the key schema %q", t.info.Format, schema)
	}
	// RocksDB's filters may know prefixes that only an extractor knows, or be in parts.
	extractor := properties.UserProperties["rocksdb.prefix.extractor.name"]
	if !slices.Contains([]string{"", "nullptr", t.info.Comparer}, extractor) ||
		t.info.Filters == nil && properties.FilterPolicyName != "" {
		return fmt.Errorf("%w: filters of RocksDB that Pebble does not have", ErrUnsupported)
	}
	return nil
}

// readFilter reads the filter, if there is one: no engine writes more.
func (t *pebbleTable) readFilter(layout *pebblesst.Layout, patterns []string) error {
	if len(layout.Filter) == 0 {
		return nil
	}
	named := layout.Filter[0]
	contents, err := t.reader.BlockReader().Read(context.Background(), block.NoReadEnv, nil,
		named.Handle, blockkind.Filter, func(*block.Metadata, []byte) error { return nil })
	if err != nil {
		return err
	}
	defer contents.Release()
	f := filtersOf(strings.TrimPrefix(named.Name, "fullfilter."), patterns, true)
	f.Layout, f.Each = "table", [][]byte{slices.Clone(contents.BlockData())}
	f.Bytes = int64(len(f.Each[0]))
	t.info.Filters = f
	return nil
}

// failed returns an error of Pebble's reader as one of Open: all but those of the file are damage.
func (t *pebbleTable) failed(err error) error {
	var read *fs.PathError
	if err == nil || errors.As(err, &read) {
		return err
	}
	return &sstable.CorruptionError{File: t.path, Offset: -1, Cause: err}
}

func (t *pebbleTable) Info() *Info { return &t.info }

func (t *pebbleTable) Keys(f func(filter int, key []byte)) error {
	var blobs pebblesst.TableBlobContext
	blobs.BlobHandleFn = noValue
	iter, err := t.reader.NewIter(pebblesst.NoTransforms, nil, nil, blobs)
	if err != nil {
		return t.failed(err)
	}
	for kv := iter.First(); kv != nil; kv = iter.Next() {
		f(0, kv.K.UserKey) // one filter for all keys, if there is any
	}
	return t.failed(iter.Close())
}

// noValue spares Pebble's reader the way to values in other files. It is generic because Pebble's
// type of values has no name outside of Pebble.
func noValue[V any](blob.InlineHandlePreface, []byte) (v V) { return v }

func (t *pebbleTable) Close() error { return t.reader.Close() }
