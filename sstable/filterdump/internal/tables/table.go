// Package tables opens the tables of LevelDB, goleveldb and Pebble as one thing: keys, and
// the filters that were built from them. It only reads.
package tables

import (
	"slices"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
)

// A Table is one table file as its filters see it. It is not safe for concurrent use.
type Table interface {
	// Info describes the table.
	Info() *Info
	// Keys calls f for each point entry in file order: with the key as the filters know it (a user
	// key, or the part of it that the comparer's Split returns) and the index of the filter that
	// covers it, -1 for none. The key's memory is reused after f returns. An error of f ends the
	// iteration and is returned as it is. Damaged blocks are a *sstable.CorruptionError. Keys that
	// cannot be read are an *UnsupportedError; Info then says Unverified.
	Keys(f func(filter int, key []byte) error) error
	// Locate returns the index of the filter that a lookup of key reads, -1 if it reads none. key
	// is as in Keys.
	Locate(key []byte) int
	// Close releases the file.
	Close() error
}

// Info describes a table.
type Info struct {
	Format   string   // "LevelDB", "Pebble v4", "RocksDB v2", ...
	Size     int64    // of the file, in bytes
	Comparer string   // its name, where the table records it
	Filters  *Filters // nil: the table has none
	Others   []string // policies of further filters, which were not looked at

	// Unverified says why the keys cannot be compared with the filters, although both could be
	// read. It is empty if they can.
	Unverified string
}

// Filters are the filters that a table has under one policy's name.
type Filters struct {
	Policy    string         // the name
	Reader    filters.Reader // nil: the name is not known
	PerWindow bool           // a filter for every 2^BaseLg bytes of data; else one for the table
	BaseLg    int
	Bytes     int64    // of the filter block: what an engine keeps in memory to use it
	Each      [][]byte // the filters in order; one of no bytes has no keys
}

// chooseFilter returns the first filter whose policy is known, or else the first, and the policies
// of the others. REQUIRES: len(entries) > 0.
func chooseFilter(
	entries []sstable.FilterEntry, o Options,
) (use sstable.FilterEntry, reader filters.Reader, others []string) {
	i := slices.IndexFunc(entries, func(e sstable.FilterEntry) bool {
		return readerOf(e.Policy, o) != nil
	})
	i = max(i, 0)
	for j, e := range entries {
		if j != i {
			others = append(others, e.Policy)
		}
	}
	return entries[i], readerOf(entries[i].Policy, o), others
}

// readerOf returns the reader of a policy's filters, nil if the policy is not known.
func readerOf(policy string, o Options) filters.Reader {
	if slices.Contains(o.Bloom, policy) {
		return filters.LevelDB
	}
	return filters.ByName(policy)
}
