package tables

import (
	"context"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
)

// pebbleReaderOptions makes Pebble's reader take a table for its keys, front to back, whatever its comparer and its merger:
// nothing is compared or merged.
func pebbleReaderOptions(properties map[string]string) pebblesst.ReaderOptions {
	comparer, merger := *pebblesst.DefaultComparer, pebblesst.Merger{Name: properties[propMerger]}
	comparer.Name = properties[propComparer]
	schema := keySchema(properties[propKeySchema])
	return pebblesst.ReaderOptions{
		Comparers:  pebblesst.Comparers{comparer.Name: &comparer},
		Mergers:    pebblesst.Mergers{merger.Name: &merger},
		KeySchemas: pebblesst.KeySchemas{schema.Name: &schema},
	}
}

// hasKeyColumns reports whether a key schema is Pebble's own, for some comparer: the key in two columns, what the comparer's
// Split returns in the first.
func hasKeyColumns(schema string) bool { return strings.HasPrefix(schema, "DefaultKeySchema(") }

// keySchema returns Pebble's own key schema under another name, with the first column for the key.
func keySchema(name string) colblk.KeySchema {
	const bundleSize = 16 // only a writer makes use of it
	schema := colblk.DefaultKeySchema(pebblesst.DefaultComparer, bundleSize)
	seeker := schema.KeySeeker
	schema.Name = name
	schema.KeySeeker = func(meta *colblk.KeySeekerMetadata) colblk.KeySeeker { return prefixSeeker{seeker(meta)} }
	return schema
}

type prefixSeeker struct{ colblk.KeySeeker }

func (s prefixSeeker) MaterializeUserKey(it *colblk.PrefixBytesIter, prevRow, row int) []byte {
	s.KeySeeker.MaterializeUserKey(it, prevRow, row)
	return it.Buf // the seeker appends the suffix behind its end
}

// noValues spares Pebble's reader the way to values in other files.
func noValues() (c pebblesst.TableBlobContext) {
	c.BlobHandleFn = noValue
	return c
}

// noValue is generic because Pebble's type of values has no name outside of it.
func noValue[V any](blob.InlineHandlePreface, []byte) (v V) { return v }

// readable lends a file to Pebble's reader, which would close it.
type readable struct {
	file   *os.File
	size   int64
	handle objstorage.NoopReadHandle
}

func newReadable(file *os.File, size int64) *readable {
	r := &readable{file: file, size: size}
	r.handle = objstorage.MakeNoopReadHandle(r)
	return r
}

func (r *readable) ReadAt(_ context.Context, p []byte, offset int64) error {
	_, err := r.file.ReadAt(p, offset)
	return err
}

func (r *readable) Size() int64 { return r.size }

func (r *readable) NewReadHandle(objstorage.ReadBeforeSize) objstorage.ReadHandle { return &r.handle }

func (r *readable) Close() error { return nil }
