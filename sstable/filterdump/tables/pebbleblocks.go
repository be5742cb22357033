package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/sstable/block"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/blocks"
)

// pebbleBlocks reads the blocks of a file. Pebble's reader does so only for tables whose comparer, merger and key schema it
// knows, allocates what a handle asks for, and, where a checksum is wrong, first tries for each bit whether that is the one.
type pebbleBlocks struct {
	path   string
	format string
	file   *os.File
	size   int64
	sums   block.Checksummer
	trust  bool // do not compare checksums

	stored, decoded []byte // buffers
	zstd            blocks.ZstdDecoder
}

// corrupt returns err as a corruption of the block at offset.
func (r *pebbleBlocks) corrupt(offset uint64, err error) error {
	if offset > math.MaxInt64 {
		return &sstable.CorruptionError{File: r.path, Offset: -1, Cause: err}
	}
	return &sstable.CorruptionError{File: r.path, Offset: int64(offset), Cause: err}
}

func (r *pebbleBlocks) unsupported(format string, args ...any) error {
	return &UnsupportedError{r.path, r.format, fmt.Sprintf(format, args...)}
}

// read returns the contents of a block, which stay valid until the next read.
func (r *pebbleBlocks) read(h block.Handle) ([]byte, error) {
	size := uint64(r.size)
	if h.Length > math.MaxInt-block.TrailerLen || h.Length+block.TrailerLen > size || h.Offset > size-h.Length-block.TrailerLen {
		return nil, r.corrupt(h.Offset, fmt.Errorf("a block of %d bytes does not fit into the file there", h.Length))
	}
	if err := r.checkLarge(h); err != nil {
		return nil, err
	}
	n := int(h.Length)
	r.stored = slices.Grow(r.stored[:0], n+block.TrailerLen)[:n+block.TrailerLen]
	if _, err := r.file.ReadAt(r.stored, int64(h.Offset)); err != nil {
		return nil, r.failed(h, err)
	}
	contents, kind := r.stored[:n], r.stored[n]
	if !r.trust && r.sums.Checksum(contents, kind) != binary.LittleEndian.Uint32(r.stored[n+1:]) {
		return nil, r.corrupt(h.Offset, errChecksum)
	}
	return r.decompress(h, kind, contents)
}

var errChecksum = errors.New("the block does not match its checksum")

// checkLarge compares the checksum of a large block with little memory: a wrong length shall not cost much.
func (r *pebbleBlocks) checkLarge(h block.Handle) error {
	const large = 1 << 20
	if h.Length <= large || r.trust || r.sums.Type != block.ChecksumTypeCRC32c {
		return nil
	}
	crc, err := blocks.FileChecksum(r.file, int64(h.Offset), int64(h.Length)+1)
	if err != nil {
		return r.failed(h, err)
	}
	var stored [4]byte
	if _, err := r.file.ReadAt(stored[:], int64(h.Offset+h.Length)+1); err != nil {
		return r.failed(h, err)
	}
	if crc != binary.LittleEndian.Uint32(stored[:]) {
		return r.corrupt(h.Offset, errChecksum)
	}
	return nil
}

// failed returns the error for a block that could not be read.
func (r *pebbleBlocks) failed(h block.Handle, err error) error {
	if err == io.EOF {
		return r.corrupt(h.Offset, errors.New("the file has become shorter"))
	}
	return err
}

func (r *pebbleBlocks) decompress(h block.Handle, kind byte, contents []byte) (decoded []byte, err error) {
	ci := block.CompressionIndicator(kind)
	switch ci {
	case block.NoCompressionIndicator:
		return contents, nil
	case block.SnappyCompressionIndicator, block.ZstdCompressionIndicator, block.MinLZCompressionIndicator:
	case block.ZlibCompressionIndicator, block.Bzip2CompressionIndicator, block.Lz4CompressionIndicator,
		block.Lz4hcCompressionIndicator, block.XpressCompressionIndicator:
		return nil, r.unsupported("blocks are compressed with %s, which Pebble's reader does not know", ci)
	default:
		return nil, r.corrupt(h.Offset, fmt.Errorf("compression %d", kind))
	}
	if decoded, err = r.decompressKnown(ci, contents); err != nil {
		return nil, r.corrupt(h.Offset, fmt.Errorf("%v: %w", ci, err))
	}
	r.decoded = decoded
	return decoded, nil
}

func (r *pebbleBlocks) decompressKnown(ci block.CompressionIndicator, contents []byte) ([]byte, error) {
	const maxMinLZ = 8 << 20
	n, err := block.DecompressedLen(ci, contents)
	switch {
	case err != nil:
		return nil, err
	case ci == block.ZstdCompressionIndicator:
		// Pebble does not look whether the length is true: what is missing would be whatever is in memory.
		_, prefix := binary.Uvarint(contents)
		return r.zstd.Decode(r.decoded, contents[prefix:], uint64(n))
	case n < 0 || n > maxMinLZ && ci == block.MinLZCompressionIndicator || ci == block.SnappyCompressionIndicator && !blocks.SnappyCanHold(len(contents), n):
		return nil, fmt.Errorf("%d bytes cannot hold %d", len(contents), n)
	}
	decoded := slices.Grow(r.decoded[:0], n)[:n]
	return decoded, block.DecompressInto(ci, contents, decoded)
}
