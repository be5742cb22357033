// Package blocks has what readers of LevelDB's blocks, and some of Pebble's, need to know.
package blocks

import (
	"hash/crc32"
	"io"
	"math/bits"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the masked CRC-32C of b, which is what files store. LevelDB masks it, since the
// CRC of bytes that contain CRCs is a poor one.
func Checksum(b []byte) uint32 { return mask(crc32.Checksum(b, castagnoli)) }

// FileChecksum is Checksum for n bytes of a file, with little memory. The error is that of r; if
// the file ends early, the checksum is that of the bytes before its end.
func FileChecksum(r io.ReaderAt, offset, n int64) (uint32, error) {
	crc := crc32.New(castagnoli)
	_, err := io.Copy(crc, io.NewSectionReader(r, offset, n))
	return mask(crc.Sum32()), err
}

func mask(crc uint32) uint32 { return bits.RotateLeft32(crc, -15) + 0xa282ead8 }

// SnappyCanHold reports whether a block of compressed bytes can decode to n bytes: a copy of 64
// bytes takes 3.
func SnappyCanHold(compressed, n int) bool {
	const maxRatio = 22
	return n >= 0 && n/maxRatio <= compressed
}
