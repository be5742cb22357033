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
		if len(block) < headerSize {
			at += len(block)
			continue
		}
		header, contents := block[:headerSize], block[headerSize:]
		if [headerSize]byte(header) == [headerSize]byte{} {
			rest := bytes.TrimLeft(manifest[at:], "\x00")
			if len(rest) == 0 {
				break
			}
			return fmt.Errorf("the manifest has zeros at offset %d, and does not end there", at)
		}
		length := int(binary.LittleEndian.Uint16(header[4:]))
		sum := binary.LittleEndian.Uint32(header)
		fits := length <= len(contents)
		if fits && util.NewCRC(block[6:headerSize+length]).Value() == sum {
			at += headerSize + length
			whole++
			continue
		}
		mayBeTorn := at-at%blockSize+blockSize > len(manifest) && !startsWith(sum, block[6:])
		if fits || !mayBeTorn {
			return fmt.Errorf("the manifest does not match its checksum at offset %d", at)
		}
		break
	}
	if whole == 0 {
		return errors.New("the manifest has no whole record")
	}
	return nil
}

// startsWith reports whether sum is the checksum of the first bytes of b, however many. Then the
// chunk is there, and its length is damaged.
func startsWith(sum uint32, b []byte) bool {
	var crc util.CRC
	for i := range b {
		if crc = crc.Update(b[i : i+1]); crc.Value() == sum {
			return true
		}
	}
	return false
}
