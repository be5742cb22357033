// Package magic tells kinds of table files apart by the magic number at their end.
package magic

import (
	"bytes"
	"encoding/binary"
	"io"
)

// A Format is the name of a kind of table file.
type Format string

const (
	Unknown Format = ""        // no table, or of a kind that is not listed here
	LevelDB Format = "LevelDB" // C++ LevelDB, goleveldb
	RocksDB Format = "RocksDB" // RocksDB, and old Pebble's TableFormatRocksDBv2
	Pebble  Format = "Pebble"  // Pebble's TableFormatPebblev1 and later
)

// The origins of the numbers are LevelDB's table/format.h (from a SHA-1 of
// "http://code.google.com/p/leveldb/"), RocksDB's table/block_based/block_based_table_builder.cc
// and Pebble's sstable/table.go (two cockroaches in UTF-8).
var formats = map[uint64]Format{
	0xdb4775248b80fb57: LevelDB,
	0x88e241b785f4cff7: RocksDB,
	0xb3aa9ff0b3aa9ff0: Pebble,
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

// Last returns where the last magic number in a file of size bytes ends, at most 16 MiB before the
// file does, and 0 if there is none. The error is that of r.
func Last(r io.ReaderAt, size int64) (end int64, err error) {
	const most = 16 << 20
	from := max(0, size-most)
	b := make([]byte, size-from)
	if n, err := r.ReadAt(b, from); n < len(b) {
		return 0, err
	}
	for magic := range formats {
		at := bytes.LastIndex(b, binary.LittleEndian.AppendUint64(nil, magic))
		if at >= 0 {
			end = max(end, from+int64(at)+Len)
		}
	}
	return end, nil
}
