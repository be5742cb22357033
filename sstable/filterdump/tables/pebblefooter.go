package tables

import (
	"encoding/binary"
	"errors"
	"fmt"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
)

// A pebbleFooter is the end of a table in one of Pebble's formats or in RocksDB's, which Pebble took over:
//
//	checksum of the blocks (1 byte), handle of the metaindex, handle of the index, zeros up to byte 41
//	Pebble v7: attributes (4 bytes)
//	Pebble v6 and later: the footer's own checksum (4 bytes), a CRC-32C of all the rest, masked
//	version (4 bytes), magic number (8 bytes)
type pebbleFooter struct {
	format           pebblesst.TableFormat // TableFormatUnspecified if Pebble does not know the version
	rocksDB          bool
	version          uint32
	checksum         block.ChecksumType
	metaindex, index block.Handle
}

// String names the format for people.
func (f pebbleFooter) String() string {
	if f.rocksDB {
		return fmt.Sprintf("RocksDB format_version %d", f.version)
	}
	return fmt.Sprintf("Pebble v%d", f.version)
}

const magicLen, versionLen = 8, 4

// decodePebbleFooter reads a footer from the end of a file. REQUIRES: end ends in RocksDB's or Pebble's magic number.
func decodePebbleFooter(end []byte) (f pebbleFooter, err error) {
	if len(end) < versionLen+magicLen {
		return f, errors.New("too short for a footer")
	}
	magic := string(end[len(end)-magicLen:])
	f.version = binary.LittleEndian.Uint32(end[len(end)-magicLen-versionLen:])
	rocksDB, _ := pebblesst.TableFormatRocksDBv2.AsTuple()
	f.rocksDB = magic == rocksDB
	size := pebblesst.TableFormatRocksDBv2.FooterSize()
	for known := pebblesst.TableFormatRocksDBv2; known <= pebblesst.TableFormatMax; known++ {
		if m, v := known.AsTuple(); m == magic && v == f.version {
			f.format, size = known, known.FooterSize()
		}
	}
	if len(end) < size {
		return f, errors.New("too short for a footer")
	}
	end = end[len(end)-size:]

	if f.format >= pebblesst.TableFormatPebblev6 {
		at := size - magicLen - versionLen - 4
		rest := append(append([]byte(nil), end[:at]...), end[at+4:]...)
		var crc block.Checksummer
		crc.Init(block.ChecksumTypeCRC32c)
		last := len(rest) - 1 // Checksum takes the last byte apart
		if crc.Checksum(rest[:last], rest[last]) != binary.LittleEndian.Uint32(end[at:]) {
			return f, errors.New("the footer does not match its checksum")
		}
	}
	f.checksum = block.ChecksumType(end[0])
	rest := end[1:]
	for _, h := range []*block.Handle{&f.metaindex, &f.index} {
		n := 0
		if *h, n = decodeHandle(rest); n == 0 && f.format != pebblesst.TableFormatUnspecified {
			return f, errors.New("the footer lacks a block handle")
		}
		rest = rest[n:]
	}
	return f, nil
}

// decodeHandle returns the handle that b begins with and its length, 0 if there is none. Pebble's own function panics on
// numbers of more than 64 bits.
func decodeHandle(b []byte) (block.Handle, int) {
	offset, n := binary.Uvarint(b)
	if n <= 0 {
		return block.Handle{}, 0
	}
	length, m := binary.Uvarint(b[n:])
	if m <= 0 {
		return block.Handle{}, 0
	}
	return block.Handle{Offset: offset, Length: length}, n + m
}
