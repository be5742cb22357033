package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/golang/snappy"
)

// A BlockHandle says where a block lies in a file.
type BlockHandle struct {
	Offset uint64 // of its first byte in the file
	Length uint64 // in bytes, compressed, without the compression byte and the checksum after it
}

const trailerLen = 1 + 4 // of a block: its compression and checksum

// maxBlock bounds the bytes of a block, uncompressed, and of its keys together. Without a bound, a
// block of a few KiB that compresses well, or whose keys share most of their bytes, could take all
// memory and time. Blocks have about 4 KiB, but a value is never split.
const maxBlock = 256 << 20

// A blockReader reads the blocks of a file. Its buffers are not safe for concurrent use.
type blockReader struct {
	file io.ReaderAt
	size uint64 // of the file without its footer: where blocks may lie

	stored  []byte // a block, compressed
	decoded []byte
}

// Compression, by the byte after a block.
const (
	compressionNone   = 0
	compressionSnappy = 1
)

// decodeHandle returns the handle at the beginning of b, of a block that lies in the file, and the
// bytes after it.
func (r *blockReader) decodeHandle(b []byte) (h BlockHandle, rest []byte, err error) {
	offset, n := binary.Uvarint(b)
	length, m := binary.Uvarint(b[max(n, 0):])
	if n <= 0 || m <= 0 {
		return h, nil, errors.New("a block handle without an offset or a length")
	}
	h = BlockHandle{offset, length}
	return h, b[n+m:], r.check(h)
}

// handleIn returns the handle in an entry of the metaindex or the index.
func (r *blockReader) handleIn(e *entries) (BlockHandle, error) {
	h, _, err := r.decodeHandle(e.value)
	if err == nil {
		err = e.checkKeys(maxKeptSharing)
	}
	return h, err
}

// check returns an error if the block does not lie in the file.
func (r *blockReader) check(h BlockHandle) error {
	if h.Length > r.size || h.Length+trailerLen > r.size || h.Offset > r.size-h.Length-trailerLen {
		return fmt.Errorf("a block of %d bytes at %d lies outside the file", h.Length, h.Offset)
	}
	return nil
}

// checkSize returns an error if a block has more bytes uncompressed than it may.
func checkSize(n uint64) error {
	if n > maxBlock {
		return fmt.Errorf("%w: %d bytes uncompressed, of at most %d", ErrTooLarge, n, maxBlock)
	}
	return nil
}

// read returns the contents of a block, which stay valid until the next read.
func (r *blockReader) read(h BlockHandle) ([]byte, error) {
	if err := r.check(h); err != nil {
		return nil, err
	}
	if err := checkSize(h.Length); err != nil {
		return nil, err
	}
	const large = 1 << 20
	if h.Length > large { // a wrong length must not cost much memory
		if err := r.checkLarge(h); err != nil {
			return nil, err
		}
	}
	r.stored = slices.Grow(r.stored[:0], int(h.Length)+trailerLen)[:h.Length+trailerLen]
	if err := readFull(r.file, r.stored, int64(h.Offset)); err != nil {
		return nil, err
	}
	block, trailer := r.stored[:h.Length], r.stored[h.Length:]
	crc := crc32.Checksum(r.stored[:h.Length+1], castagnoli)
	if err := compareChecksum(crc, trailer[1:]); err != nil {
		return nil, err
	}
	return r.decompress(trailer[0], block)
}

// checkLarge compares the checksum of a block, and takes little memory.
func (r *blockReader) checkLarge(h BlockHandle) error {
	crc := crc32.New(castagnoli)
	block := io.NewSectionReader(r.file, int64(h.Offset), int64(h.Length)+1)
	if _, err := io.Copy(crc, block); err != nil {
		return &readError{err}
	}
	var stored [4]byte
	if err := readFull(r.file, stored[:], int64(h.Offset+h.Length)+1); err != nil {
		return err
	}
	return compareChecksum(crc.Sum32(), stored[:])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// compareChecksum compares the CRC-32C of a block with the stored one. LevelDB masks it, since the
// CRC of bytes that contain CRCs is a poor one.
func compareChecksum(crc uint32, stored []byte) error {
	masked := bits.RotateLeft32(crc, -15) + 0xa282ead8
	if want := binary.LittleEndian.Uint32(stored); masked != want {
		return fmt.Errorf("the block's checksum is %#08x, but its bytes have %#08x", want, masked)
	}
	return nil
}

func (r *blockReader) decompress(kind byte, block []byte) ([]byte, error) {
	switch kind {
	case compressionNone:
		return block, nil
	case compressionSnappy:
		return r.decompressSnappy(block)
	}
	name := "of a kind that has no known name"
	switch kind {
	case 2:
		name = "zstd, or zlib in old worlds of Minecraft, or lz4 in Basho's LevelDB"
	case 4:
		name = "raw deflate, as in worlds of Minecraft"
	}
	return nil, fmt.Errorf("%w %d (%s)", ErrCompression, kind, name)
}

func (r *blockReader) decompressSnappy(block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	const maxRatio = 22 // a copy of 64 bytes takes 3
	if n < 0 || n/maxRatio > len(block) {
		return nil, fmt.Errorf("snappy: %d bytes cannot decode to %d", len(block), n)
	}
	if err := checkSize(uint64(n)); err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	decoded, err := snappy.Decode(r.decoded[:cap(r.decoded)], block)
	if err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	r.decoded = decoded
	return decoded, nil
}
