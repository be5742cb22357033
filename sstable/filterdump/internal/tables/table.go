// Package tables opens the tables of LevelDB, goleveldb and Pebble in one way: as keys, and the
// filters that were built from them. It only reads.
package tables

// A Table is one table file as its filters see it. It is not safe for concurrent use.
type Table interface {
	Info() *Info
	// Keys calls f for each point entry in file order: with the key as the filters know it, and the
	// index of the filter that covers it, -1 for none; in a table without filters, of the one that
	// would. The key's memory is reused after f returns. The errors are Open's.
	Keys(f func(filter int, key []byte)) error
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
	// Doubt says why the filters cannot be compared with the keys, if that is so.
	Doubt    string `json:"-"`
	*Filters        // nil: the table has none
}

// Filters are the filters that a table has under one policy's name.
type Filters struct {
	Policy string `json:"policy"` // the name
	// Layout says which keys share a filter: those of every 2^BaseLg bytes of data, in a "window",
	// or all, in the "table".
	Layout string `json:"layout"`
	BaseLg int    `json:"base_lg,omitempty"`
	Bytes  int64  `json:"filter_bytes"` // what an engine keeps in memory to use the filters

	Each [][]byte `json:"-"` // the filters in order; one of no bytes has no keys
	// MayContain reports whether key may have been added to filter. Parse returns the name of a
	// filter's encoding, such as "LevelDB Bloom", and an error if it matches all keys or none. Both
	// are nil if the policy's name is not known.
	MayContain func(filter, key []byte) bool                    `json:"-"`
	Parse      func(filter []byte) (encoding string, err error) `json:"-"`
}
