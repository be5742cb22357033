// Package tables opens the tables of LevelDB, goleveldb and Pebble in one way: as keys, and the
// filters that were built from them. It also reads which tables a database has. It only reads.
package tables

// A Table is one table file as its filters see it. It is not safe for concurrent use.
type Table interface {
	// Info describes the table.
	Info() *Info
	// Keys calls f for each point entry in file order: with the key as the filters know it (a user
	// key, or the part of it that the comparer's Split returns) and the index of the filter that
	// covers it, -1 for none; in a table without filters, of the one that would. The key's memory is
	// reused after f returns. An error of f ends the iteration and is returned unchanged. Damaged
	// blocks are a *sstable.CorruptionError. Keys that cannot be read are an *UnsupportedError; Info
	// then says Unverified.
	Keys(f func(filter int, key []byte) error) error
	// Locate returns the index of the filter that a lookup of key reads, as Keys does. key is as in
	// Keys.
	Locate(key []byte) int
	// Seek returns the first key that is not below key, nil if there is none, and the number of data
	// blocks that an engine's lookup of key reads if no filter excludes it. The key's memory is reused
	// by the next call.
	Seek(key []byte) (found []byte, blocks int, err error)
	// Window calls f for the keys from which the filter that a lookup of key reads is built, or
	// would be. It calls f for none if that is the whole table. The key's memory is reused.
	Window(key []byte, f func(key []byte)) error
	// Close releases the file.
	Close() error
}

// Info describes a table, also in the output of filterdump --json.
type Info struct {
	Format   string `json:"format,omitempty"`   // "LevelDB", "Pebble v4", "RocksDB v2", ...
	Size     int64  `json:"size,omitempty"`     // of the file, in bytes
	Comparer string `json:"comparer,omitempty"` // its name; LevelDB's tables do not record it
	// IndexBytes is what the index takes in an engine's cache: with LevelDB uncompressed, with
	// Pebble as in the file.
	IndexBytes int64 `json:"index_bytes,omitempty"`
	*Filters         // nil: the table has none

	// Unverified says why the keys cannot be compared with the filters, although both could be
	// read. It is empty if they can.
	Unverified string `json:"-"`
}

// Filters are the filters that a table has under one policy's name.
type Filters struct {
	Policy string `json:"policy"` // the name
	Layout Layout `json:"layout"`
	BaseLg int    `json:"base_lg,omitempty"`
	Bytes  int64  `json:"filter_bytes"` // what an engine keeps in memory to use the filters

	Reader FilterReader `json:"-"` // nil: the name is not known
	Each   [][]byte     `json:"-"` // the filters in order; one of no bytes has no keys
}

// A Layout says which keys share a filter.
type Layout string

const (
	PerWindow Layout = "window" // the keys of every 2^BaseLg bytes of data
	PerTable  Layout = "table"  // all keys
)
