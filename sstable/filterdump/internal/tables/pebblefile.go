package tables

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable/block"
)

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
