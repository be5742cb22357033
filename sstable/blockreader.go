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

// maxBlock bounds the bytes of a block, uncompressed, and of its keys together. Without a bound, a
// block of a few KiB that compresses well, or whose keys share most of their bytes, could take all
// memory and time. Blocks have about 4 KiB unless an engine is configured otherwise, but a value is
// never split, so a long value makes a long block.
const maxBlock = 256 << 20

// A blockReader reads the blocks of a file. It owns two buffers, so it is not safe for concurrent
// use.
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
		return tooLarge("%d bytes uncompressed, of at most %d", n, maxBlock)
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
	return nil, kindError{ErrCompression, fmt.Errorf("compression %d (%s)", kind, name)}
}

// ErrCompression is wrapped by the error for a block with a right checksum, but with a compression
// that LevelDB's releases do not have: zstd, which is newer than release 1.23, or a fork's own.
var ErrCompression = errors.New("unknown compression")

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
