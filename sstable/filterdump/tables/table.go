// Package tables opens the tables of LevelDB, goleveldb, Pebble and RocksDB as one thing: keys, and the filters that were
// made of them. It only reads.
package tables

import "github.com/levelbloom/levelbloom/sstable/filterdump/encoding"

// A Table is one table file as its filters see it. It is not safe for concurrent use.
type Table interface {
	// Info describes the table.
	Info() *Info
	// Keys calls f for each point entry in the order of the file: with the key as the filters know it (a user key, or the
	// part of it that the comparer's Split returns) and the index of the filter that covers it, -1 for none. The key's
	// memory is reused after f returns. An error of f ends the iteration and is returned as it is. An unreadable block
	// ends it with a *sstable.CorruptionError. Keys that cannot be read are an *UnsupportedError; Info says Unverified then.
	Keys(f func(filter int, key []byte) error) error
	// Locate returns the index of the filter that a lookup of key asks, or -1 if it asks none. key is as in Keys.
	Locate(key []byte) int
	// Close releases the file.
	Close() error
}

// Info describes a table.
type Info struct {
	Format   string   // the writer's format: "LevelDB", "Pebble v4", "RocksDB format_version 2", ...
	Size     int64    // of the file, in bytes
	Comparer string   // its name where the table records it
	Filters  *Filters // nil: the table has none
	Others   []string // names of further filters, which engines that know Filters.Policy do not ask

	// Unverified says why the keys cannot be compared with the filters, although both could be read: the comparer's prefix
	// rule is unknown, or the filters' encoding. Empty if they can.
	Unverified string
}

// Filters are the filters that a table has under one name.
type Filters struct {
	Policy    string            // name on disk
	Encoding  encoding.Encoding // of all; Of tells that of one. nil if it is unknown
	Presumed  bool              // Policy tells nothing about the encoding, which is only presumed
	PerWindow bool              // a filter for every 2^BaseLg bytes of data; else one for the whole table
	BaseLg    int
	Bytes     int64    // of the filter block: what an engine holds in memory to use it
	Each      [][]byte // the filters in order; one of no bytes is empty and has no keys
}
