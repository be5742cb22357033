// Package keylist reads a user's own keys: from a text file, a table, or a database's tables.
package keylist

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
)

// MaxBytes bounds the keys in memory, each with the 24 bytes of its slice. Of more keys Read takes
// neighbors: a filter has a run of neighbors, and their rate depends on that.
const MaxBytes = 128 << 20

// Read returns the keys of
//   - a text file: a key is the bytes of a line, in any order. Empty lines do not count, nor does
//     a carriage return before a line's end
//   - a table of LevelDB, goleveldb or Pebble
//   - a directory of such tables. What is only in the database's log is left out
//
// sampled says that there are more. Nothing at path is changed. The same files give the same keys.
func Read(path string) (list keys.List, sampled bool, err error) { return read(path, MaxBytes) }

func read(path string, limit int) (list keys.List, sampled bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	c := collector{limit: limit}
	switch {
	case info.IsDir():
		sampled, err = c.readDirectory(path)
	case info.Mode().IsRegular() && ondisk.IsTable(path):
		sampled, err = c.readTables([]string{path})
	default:
		sampled, err = c.readText(path)
	}
	c.compact()
	if err == nil && len(c.keys) == 0 {
		err = fmt.Errorf("%s: there are no keys", path)
	}
	return c.keys, sampled, err
}

// readDirectory reads tables in random order until the memory is full: a table's keys are
// neighbors.
func (c *collector) readDirectory(dir string) (sampled bool, err error) {
	tables, err := ondisk.Find(dir)
	if err != nil {
		return false, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	return c.readTables(tables)
}

var errFull = errors.New("the memory for keys is full")

func (c *collector) readTables(tables []string) (sampled bool, err error) {
	for _, table := range tables {
		err := ondisk.Keys(table, func(key []byte) error {
			if !c.add(key) {
				return errFull
			}
			return nil
		})
		if errors.Is(err, errFull) {
			return true, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // the database deleted it meanwhile
			return false, err
		}
	}
	return false, nil
}

// maxLine bounds a line. A longer one is hardly a key.
const maxLine = 1 << 20

// readText reads a file of lines. When the memory is full, it narrows the range of keys that it
// takes, of which it so has all.
func (c *collector) readText(path string) (sampled bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		for len(lines.Bytes()) > 0 && !c.add(lines.Bytes()) {
			c.narrow()
			sampled = true
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return false, fmt.Errorf("%s: a line of more than %d bytes: pass a file with one key per "+
			"line, or a database's directory", path, maxLine)
	}
	return sampled, lines.Err()
}
