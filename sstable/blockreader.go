package sstable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
)

// A blockReader reads the blocks of a file. It owns two buffers, so it is not safe for concurrent use.
type blockReader struct {
	file io.ReaderAt
	size uint64 // of the file without its footer: where blocks may lie

	stored  []byte // a block as it is in the file
	decoded []byte
	zstd    *zstd.Decoder
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskChecksum returns a CRC as it is stored. LevelDB masks it, since the CRC of bytes that contain CRCs is a poor one.
func maskChecksum(crc uint32) uint32 { return bits.RotateLeft32(crc, -15) + 0xa282ead8 }

// Compression, by the byte behind a block.
const (
	compressionNone   = 0
	compressionSnappy = 1
	compressionZstd   = 2
)

// check returns an error if the block does not lie in the file.
func (r *blockReader) check(h BlockHandle) error {
	if h.Length > r.size || h.Length+trailerLen > r.size || h.Offset > r.size-h.Length-trailerLen {
		return fmt.Errorf("a block of %d bytes at %d does not fit into the file", h.Length, h.Offset)
	}
	if h.Length > math.MaxInt-trailerLen {
		return fmt.Errorf("a block of %d bytes does not fit into memory", h.Length)
	}
	return nil
}

// read returns the contents of a block, which stay valid until the next read.
func (r *blockReader) read(h BlockHandle) ([]byte, error) {
	if err := r.check(h); err != nil {
		return nil, err
	}
	const large = 1 << 20
	if h.Length > large { // a wrong length shall not cost much memory
		if err := r.checkLarge(h); err != nil {
			return nil, err
		}
	}
	r.stored = slices.Grow(r.stored[:0], int(h.Length)+trailerLen)[:h.Length+trailerLen]
	if err := readFull(r.file, r.stored, int64(h.Offset)); err != nil {
		return nil, err
	}
	block, trailer := r.stored[:h.Length], r.stored[h.Length:]
	if err := compareChecksum(crc32.Checksum(r.stored[:h.Length+1], castagnoli), trailer[1:]); err != nil {
		return nil, err
	}
	return r.decompress(trailer[0], block)
}

// checkLarge compares the checksum of a block with little memory.
func (r *blockReader) checkLarge(h BlockHandle) error {
	crc := crc32.New(castagnoli)
	if _, err := io.Copy(crc, io.NewSectionReader(r.file, int64(h.Offset), int64(h.Length)+1)); err != nil {
		return &readError{err}
	}
	var stored [4]byte
	if err := readFull(r.file, stored[:], int64(h.Offset+h.Length)+1); err != nil {
		return err
	}
	return compareChecksum(crc.Sum32(), stored[:])
}

func compareChecksum(crc uint32, stored []byte) error {
	if masked, want := maskChecksum(crc), binary.LittleEndian.Uint32(stored); masked != want {
		return fmt.Errorf("the block's checksum is %#08x, and that of its bytes %#08x", want, masked)
	}
	return nil
}

func (r *blockReader) decompress(kind byte, block []byte) ([]byte, error) {
	switch kind {
	case compressionNone:
		return block, nil
	case compressionSnappy:
		return r.decompressSnappy(block)
	case compressionZstd:
		return r.decompressZstd(block)
	}
	return nil, compressionError(kind)
}

// ErrCompression is wrapped by the error for a block that is sound by its checksum, and compressed in a way that LevelDB does
// not have. RocksDB and forks of LevelDB have others.
var ErrCompression = errors.New("unknown compression")

type compressionError byte

func (e compressionError) Error() string {
	return fmt.Sprintf("compression %d, and LevelDB knows 0 (none), 1 (snappy) and 2 (zstd)", byte(e))
}

func (compressionError) Is(target error) bool { return target == ErrCompression }

// The most that one byte of snappy can become: a copy of 64 bytes takes 3. Lengths that promise more are wrong, and nothing is
// allocated for them.
const maxSnappyRatio = 22

func (r *blockReader) decompressSnappy(block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	if n/maxSnappyRatio > len(block) {
		return nil, fmt.Errorf("snappy: %d bytes cannot hold %d", len(block), n)
	}
	decoded, err := snappy.Decode(r.decoded[:cap(r.decoded)], block)
	if err != nil {
		return nil, fmt.Errorf("snappy: %w", err)
	}
	r.decoded = decoded
	return decoded, nil
}
