package tables

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/blocks"
)

// A pebbleFile gives Pebble's reader a file, and checks each block before the reader sees it.
// Pebble would allocate whatever a length says, and search a block with a wrong checksum for the
// bit that makes it right, in time quadratic in the block's size. And a few KiB can hold a block of
// 1 GiB, which an index can name again and again.
type pebbleFile struct {
	path   string
	format string
	file   *os.File
	size   int64
	budget int64 // bytes that may still be decompressed
	sums   block.Checksummer
	handle objstorage.NoopReadHandle

	data      []block.HandleWithProperties // the data blocks, once they are known
	dataReads int                          // of these
}

// maxDecompressed plus 64 times the file's size is how many bytes of a table may be decompressed. A
// block that is read twice counts twice. It is a variable for a test.
var maxDecompressed int64 = 4 << 30

// newPebbleFile reads the end of a file, and returns the file with its format's name:
//
//	checksum of the blocks (1 byte), more; since Pebble v6 up to 57 bytes in all, before that 53
//	version (4 bytes), magic number (8 bytes)
func newPebbleFile(
	path string, file *os.File, size int64,
) (f *pebbleFile, format string, err error) {
	f = &pebbleFile{path: path, file: file, size: size}
	f.budget = maxDecompressed + 64*size
	f.handle = objstorage.MakeNoopReadHandle(f)
	corrupt := func(cause string) (*pebbleFile, string, error) {
		err := errors.New(cause)
		return nil, format, &sstable.CorruptionError{File: path, Offset: -1, Cause: err}
	}
	const end = 4 + 8
	var b [end]byte
	if size < end {
		return corrupt("too short for a footer")
	}
	if _, err := file.ReadAt(b[:], size-end); err != nil {
		return nil, "", err
	}
	version, magic := binary.LittleEndian.Uint32(b[:]), string(b[4:])
	rocksDB, _ := pebblesst.TableFormatRocksDBv2.AsTuple()
	_, newest := pebblesst.TableFormatMax.AsTuple()
	engine := "Pebble"
	if magic == rocksDB {
		engine = "RocksDB"
	}
	format = fmt.Sprintf("%s v%d", engine, version)
	known, err := pebblesst.ParseTableFormatString(fmt.Sprintf("(%s,v%d)", engine, version))
	if err != nil {
		return nil, format, &UnsupportedError{path, format, fmt.Sprintf(
			"only Pebble v1 to v%d, and RocksDB v2 of old Pebble, can be read", newest)}
	}
	footer := int64(known.FooterSize())
	if size < footer {
		return corrupt("too short for a footer")
	}
	if _, err := file.ReadAt(b[:1], size-footer); err != nil {
		return nil, "", err
	}
	f.sums.Type = block.ChecksumType(b[0])
	switch f.sums.Type {
	case block.ChecksumTypeCRC32c, block.ChecksumTypeXXHash64:
		f.sums.Init(f.sums.Type)
		f.format = format
		return f, format, nil
	}
	return corrupt(fmt.Sprintf("checksums of kind %d", b[0]))
}

// ReadAt reads the footer, which ends where the file does, or a block.
func (f *pebbleFile) ReadAt(_ context.Context, p []byte, offset int64) error {
	fail := func(format string, args ...any) error {
		err := fmt.Errorf(format, args...)
		return &sstable.CorruptionError{File: f.path, Offset: offset, Cause: err}
	}
	n := len(p) - block.TrailerLen
	if offset < 0 || int64(len(p)) > f.size || offset > f.size-int64(len(p)) || n < 0 {
		return fail("a block of %d bytes does not fit into the file there", max(n, 0))
	}
	if _, err := f.file.ReadAt(p, offset); err != nil || offset+int64(len(p)) == f.size {
		return err
	}
	if len(f.data) > 0 && uint64(offset) <= f.data[len(f.data)-1].Offset {
		f.dataReads++ // they come first in the file
	}
	contents, kind := p[:n], block.CompressionIndicator(p[n])
	if f.sums.Checksum(contents, p[n]) != binary.LittleEndian.Uint32(p[n+1:]) {
		return fail("the block does not match its checksum")
	}
	switch kind {
	case block.NoCompressionIndicator:
		return nil
	case block.SnappyCompressionIndicator, block.ZstdCompressionIndicator,
		block.MinLZCompressionIndicator:
	default:
		return fail("compression %d", kind)
	}
	const maxBlock = 1 << 30 // bounds the memory that a wrong length can take
	if decoded, err := block.DecompressedLen(kind, contents); err != nil {
		return fail("%v: %w", kind, err)
	} else if decoded < 0 || decoded > maxBlock ||
		kind == block.SnappyCompressionIndicator && !blocks.SnappyCanHold(n, decoded) {
		return fail("%v: %d bytes cannot become %d", kind, n, decoded)
	} else if f.budget -= int64(decoded); f.budget < 0 {
		return &UnsupportedError{f.path, f.format, fmt.Sprintf("its blocks have more than %d MiB "+
			"and 64 times the file's size uncompressed", maxDecompressed>>20)}
	}
	return nil
}

func (f *pebbleFile) Size() int64 { return f.size }

func (f *pebbleFile) NewReadHandle(objstorage.ReadBeforeSize) objstorage.ReadHandle {
	return &f.handle
}

func (f *pebbleFile) Close() error { return f.file.Close() }

// noValues spares Pebble's reader the way to values in other files.
func noValues() (c pebblesst.TableBlobContext) {
	c.BlobHandleFn = noValue
	return c
}

// noValue is generic because Pebble's type of values has no name outside of Pebble.
func noValue[V any](blob.InlineHandlePreface, []byte) (v V) { return v }
