package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/util"
)

// A manifest is a log in LevelDB's format (its doc/log_format.md): blocks of 32 KiB of chunks, each
//
//	checksum of what follows the length (4 bytes), length (2 bytes), type (1 byte), contents
//
// and zeros where no header fits at the end of a block.
const (
	blockSize  = 32 << 10
	headerSize = 7
)

// CheckManifest returns an error if a manifest has no chunk, or a damaged one. The engines must not
// be asked: Pebble takes a wrong checksum for the end, and opens the rest as the whole database;
// goleveldb skips a block that begins with zeros.
//
// The end of a manifest in use is no damage: a chunk that is not all there, or zeros to the end.
func CheckManifest(manifest []byte) error {
	whole := 0 // chunks
	for at := 0; at < len(manifest); {
		block := manifest[at:min(len(manifest), at-at%blockSize+blockSize)]
		n := chunkLen(block)
		switch {
		case n > 0:
			whole++
			at += n
			continue
		case len(block) < headerSize:
			at += len(block)
			continue
		case len(bytes.TrimLeft(block[:headerSize], "\x00")) == 0:
			if len(bytes.TrimLeft(manifest[at:], "\x00")) > 0 {
				return fmt.Errorf("the manifest has zeros at offset %d, and goes on then", at)
			}
		case at+len(block) < len(manifest) || !isTorn(block):
			return fmt.Errorf("the manifest does not match its checksum at offset %d", at)
		}
		break
	}
	if whole == 0 {
		return errors.New("the manifest has no whole record")
	}
	return nil
}

// chunkLen returns the length of the chunk with which a block begins, header included, 0 if it is
// not whole.
func chunkLen(block []byte) int {
	if len(block) < headerSize {
		return 0
	}
	end := headerSize + int(binary.LittleEndian.Uint16(block[4:]))
	sum := binary.LittleEndian.Uint32(block)
	if end > len(block) || util.NewCRC(block[6:end]).Value() != sum {
		return 0
	}
	return end
}

// isTorn reports whether the last block, from a chunk on that is not whole, can be the end of a
// manifest that is being written: the chunk goes on behind it. It is damaged instead if its type is
// unknown, if it is whole with another length, or if a whole chunk follows.
//
// REQUIRES: block has a header.
func isTorn(block []byte) bool {
	const full, last = 1, 4 // the types: all of a record, or its first, middle or last part
	if block[6] < full || block[6] > last ||
		headerSize+int(binary.LittleEndian.Uint16(block[4:])) <= len(block) {
		return false
	}
	var crc util.CRC
	for at := 6; at < len(block); at++ {
		crc = crc.Update(block[at : at+1])
		if crc.Value() == binary.LittleEndian.Uint32(block) || chunkLen(block[at+1:]) > 0 {
			return false
		}
	}
	return true
}
