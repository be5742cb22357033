// Package keylist reads a user's own keys: from a text file, a table, or a database's tables.
package keylist

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
)

// MaxBytes bounds the keys in memory, each with the 24 bytes of its slice. Of more keys Read takes
// runs of neighbors: a filter has a run of neighbors, and their rate depends on that.
const MaxBytes = 128 << 20

// Read returns the keys of
//   - a text file: a key is the bytes of a line, in any order. Empty lines do not count, nor does
//     a carriage return before a line's end
//   - a table of LevelDB, goleveldb, Pebble or RocksDB (format_version 0 and 2)
//   - a directory of such tables. What is only in the database's log is left out
//
// sampled says that there are more. Nothing at path is changed. The same files give the same keys.
func Read(path string) (list keys.List, sampled bool, err error) { return read(path, MaxBytes) }

func read(path string, limit int) (list keys.List, sampled bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	switch {
	case info.IsDir():
		list, sampled, err = readDirectory(path, limit)
	case info.Mode().IsRegular() && ondisk.IsTable(path):
		list, sampled, err = readTables([]string{path}, limit)
	default:
		list, sampled, err = readText(path, limit)
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: there are no keys", path)
	}
	return list, sampled, err
}

// readDirectory reads tables in random order until the memory is full: a table's keys are
// neighbors.
func readDirectory(dir string, limit int) (keys.List, bool, error) {
	tables, err := ondisk.Find(dir)
	if err != nil {
		return nil, false, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	return readTables(tables, limit)
}

func readTables(tables []string, limit int) (keys.List, bool, error) {
	c := collector{limit: limit}
	for _, table := range tables {
		err := ondisk.Keys(table, func(key []byte) error {
			if !c.add(key) {
				return errFull
			}
			return nil
		})
		if errors.Is(err, errFull) {
			return c.sorted(), true, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // the database deleted it meanwhile
			return nil, false, err
		}
	}
	return c.sorted(), false, nil
}

// sliceBytes is the memory of a key besides its bytes.
const sliceBytes = 24

var errFull = errors.New("the memory for keys is full")

// A collector holds keys up to a limit of bytes.
type collector struct {
	limit, size int
	keys        [][]byte
}

// add adds a copy of key. It reports false if there is no room.
func (c *collector) add(key []byte) bool {
	if c.size += sliceBytes + len(key); c.size > c.limit {
		c.size = 0
		for _, kept := range c.sorted() { // repetitions make room
			c.size += sliceBytes + len(kept)
		}
		if c.size > c.limit/2 {
			return false
		}
		c.size += sliceBytes + len(key)
	}
	c.keys = append(c.keys, bytes.Clone(key))
	return true
}

func (c *collector) sorted() [][]byte {
	slices.SortFunc(c.keys, bytes.Compare)
	c.keys = slices.CompactFunc(c.keys, bytes.Equal)
	return c.keys
}
