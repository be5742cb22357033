package sstable

import (
	"encoding/binary"
	"fmt"
	"io"
)

// A Format is a kind of table file, told by the magic number at its end. Pebble's
// TableFormatLevelDB is FormatLevelDB, and its TableFormatRocksDBv2 is FormatRocksDB.
type Format int

const (
	FormatUnknown       Format = iota // no table, or of a kind that is not listed here
	FormatLevelDB                     // C++ LevelDB, goleveldb, RocksDB's format_version 0
	FormatRocksDB                     // RocksDB's block-based tables, format_version 1 and later
	FormatPebble                      // Pebble's TableFormatPebblev1 and later
	FormatRocksDBPlain                // RocksDB's plain tables
	FormatRocksDBCuckoo               // RocksDB's cuckoo tables
)

// The origins of the numbers are LevelDB's table/format.h (from a SHA-1 of
// "http://code.google.com/p/leveldb/"), RocksDB's table/block_based/block_based_table_builder.cc,
// table/plain/plain_table_builder.cc and table/cuckoo/cuckoo_table_builder.cc, and Pebble's
// sstable/table.go (two cockroaches in UTF-8).
const magicLevelDB = 0xdb4775248b80fb57

var formats = map[uint64]Format{
	magicLevelDB:       FormatLevelDB,
	0x88e241b785f4cff7: FormatRocksDB,
	0xb3aa9ff0b3aa9ff0: FormatPebble,
	0x8242229663bf9564: FormatRocksDBPlain,
	0x4f3418eb7a8f13b8: FormatRocksDBPlain, // of older releases
	0x926789d0c5f17873: FormatRocksDBCuckoo,
}

func (f Format) String() string {
	switch f {
	case FormatLevelDB:
		return "LevelDB"
	case FormatRocksDB:
		return "RocksDB block-based"
	case FormatPebble:
		return "Pebble"
	case FormatRocksDBPlain:
		return "RocksDB plain"
	case FormatRocksDBCuckoo:
		return "RocksDB cuckoo"
	default:
		return "unknown"
	}
}

const magicLen = 8

// Identify returns the format that the last 8 bytes of a file of the given size name. Its errors
// are those of r; a file that is no table has FormatUnknown.
func Identify(r io.ReaderAt, size int64) (Format, error) {
	magic, err := readMagic(r, size)
	return formats[magic], err
}

// readMagic returns 0, which is nobody's magic number, for a file that is too short to have one.
func readMagic(r io.ReaderAt, size int64) (uint64, error) {
	if size < magicLen {
		return 0, nil
	}
	var magic [magicLen]byte
	if err := readFull(r, magic[:], size-magicLen); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(magic[:]), nil
}

// A FormatError says that a file is not a table in LevelDB's format, and what it is.
type FormatError struct {
	File   string // as given to WithFileName; may be empty
	Format Format
	Magic  uint64 // the file's last 8 bytes as a little-endian number
}

func (e *FormatError) Error() string {
	if e.Format == FormatUnknown {
		return fmt.Sprintf(
			"%s: not a table: the file ends in %#016x, which is no format's magic number",
			fileName(e.File),
			e.Magic,
		)
	}
	return fmt.Sprintf("%s: a table in %s format, not in LevelDB's", fileName(e.File), e.Format)
}
