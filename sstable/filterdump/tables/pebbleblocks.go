package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/klauspost/compress/zstd"

	"github.com/levelbloom/levelbloom/sstable"
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
	zstd            *zstd.Decoder
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
	crc := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(crc, io.NewSectionReader(r.file, int64(h.Offset), int64(h.Length)+1)); err != nil {
		return r.failed(h, err)
	}
	var stored [4]byte
	if _, err := r.file.ReadAt(stored[:], int64(h.Offset+h.Length)+1); err != nil {
		return r.failed(h, err)
	}
	if bits.RotateLeft32(crc.Sum32(), -15)+0xa282ead8 != binary.LittleEndian.Uint32(stored[:]) { // masked as in LevelDB
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
	n, err := block.DecompressedLen(ci, contents)
	if err == nil && !canHold(ci, len(contents), n) {
		err = fmt.Errorf("%d bytes cannot hold %d", len(contents), n)
	}
	if err == nil {
		r.decoded = slices.Grow(r.decoded[:0], n)[:n]
		decoded = r.decoded
		if ci == block.ZstdCompressionIndicator {
			decoded, err = r.decompressZstd(contents, decoded)
		} else {
			err = block.DecompressInto(ci, contents, decoded)
		}
	}
	if err != nil {
		return nil, r.corrupt(h.Offset, fmt.Errorf("%v: %w", ci, err))
	}
	return decoded, nil
}

// canHold reports whether stored bytes can become n. Nothing is allocated for lengths that promise more.
func canHold(ci block.CompressionIndicator, stored, n int) bool {
	const (
		maxSnappyRatio = 22       // a copy of 64 bytes takes 3
		maxZstdRatio   = 128 << 8 // a block of 128 KiB takes 4: its header, and the byte to repeat
		maxMinLZ       = 8 << 20
	)
	switch ci {
	case block.SnappyCompressionIndicator:
		return n >= 0 && n/maxSnappyRatio <= stored
	case block.ZstdCompressionIndicator:
		return n >= 0 && n/maxZstdRatio <= stored
	default:
		return n >= 0 && n <= maxMinLZ
	}
}

// decompressZstd decompresses what is behind the length, which is that of buf. Pebble does not look whether it is true: what
// is missing would be whatever is in memory.
func (r *pebbleBlocks) decompressZstd(contents, buf []byte) (decoded []byte, err error) {
	if r.zstd == nil {
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	_, prefix := binary.Uvarint(contents)
	decoded, err = r.zstd.DecodeAll(contents[prefix:], buf[:0:len(buf)])
	if err == nil && len(decoded) != len(buf) {
		err = fmt.Errorf("%d bytes, not %d", len(decoded), len(buf))
	}
	return decoded, err
}
