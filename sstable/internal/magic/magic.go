// Package magic tells kinds of table files apart by the magic number at their end.
package magic

import (
	"encoding/binary"
	"io"
)

// A Format is a kind of table file. Pebble's TableFormatLevelDB is LevelDB, and its
// TableFormatRocksDBv2 is RocksDB.
type Format int

const (
	Unknown       Format = iota // no table, or of a kind that is not listed here
	LevelDB                     // C++ LevelDB, goleveldb, RocksDB's format_version 0
	RocksDB                     // RocksDB's block-based tables, format_version 1 and later
	Pebble                      // Pebble's TableFormatPebblev1 and later
	RocksDBPlain                // RocksDB's plain tables
	RocksDBCuckoo               // RocksDB's cuckoo tables
)

// The origins of the numbers are LevelDB's table/format.h (from a SHA-1 of
// "http://code.google.com/p/leveldb/"), RocksDB's table/block_based/block_based_table_builder.cc,
// table/plain/plain_table_builder.cc and table/cuckoo/cuckoo_table_builder.cc, and Pebble's
// sstable/table.go (two cockroaches in UTF-8).
var formats = map[uint64]Format{
	0xdb4775248b80fb57: LevelDB,
	0x88e241b785f4cff7: RocksDB,
	0xb3aa9ff0b3aa9ff0: Pebble,
	0x8242229663bf9564: RocksDBPlain,
	0x4f3418eb7a8f13b8: RocksDBPlain, // of older releases
	0x926789d0c5f17873: RocksDBCuckoo,
}

func (f Format) String() string {
	switch f {
	case LevelDB:
		return "LevelDB"
	case RocksDB:
		return "RocksDB block-based"
	case Pebble:
		return "Pebble"
	case RocksDBPlain:
		return "RocksDB plain"
	case RocksDBCuckoo:
		return "RocksDB cuckoo"
	default:
		return "unknown"
	}
}

// Len is the length of the magic number.
const Len = 8

// Of returns the format of a file of size bytes, and its last 8 bytes as a little-endian number, 0
// if it has fewer. The error is that of r, or io.ErrUnexpectedEOF if the file ends before size.
func Of(r io.ReaderAt, size int64) (f Format, magic uint64, err error) {
	if size < Len {
		return Unknown, 0, nil
	}
	var b [Len]byte
	if n, err := r.ReadAt(b[:], size-Len); n < Len {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Unknown, 0, err
	}
	magic = binary.LittleEndian.Uint64(b[:])
	return formats[magic], magic, nil
}
