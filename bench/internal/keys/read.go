package keys

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
)

// MaxBytes bounds the keys in memory, each with the 24 bytes of its slice. Of a larger database Read
// takes runs of neighbors: a filter's keys are neighbors, and its rate depends on that.
const MaxBytes = 128 << 20

// Read returns the keys, sorted, none twice, of
//   - a text file: a key is the bytes of a line, in any order. Empty lines do not count, nor does a
//     carriage return before a line's end
//   - a table of LevelDB, goleveldb or Pebble
//   - the tables of a database in a directory, which may be in use. What is only in its log is left
//     out
//
// It reports whether these are a part of a database's keys. Nothing at path is changed. The same
// files give the same keys.
func Read(ctx context.Context, path string) (keys List, sampled bool, err error) {
	return read(ctx, path, MaxBytes)
}

func read(ctx context.Context, path string, limit int) (keys List, sampled bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, err
	}
	c := collector{limit: limit}
	switch {
	case !info.IsDir() && !info.Mode().IsRegular(): // such as a pipe, whose writer may never come
		err = fmt.Errorf("%s is no regular file: write the keys into one", path)
	case info.IsDir() || ondisk.IsTable(path):
		sampled, err = c.readTables(ctx, path)
	default:
		err = c.readText(path)
	}
	c.compact()
	if err == nil && len(c.keys) == 0 {
		err = fmt.Errorf("%s: there are no keys", path)
	}
	return c.keys, sampled, err
}

// readTables reads tables until the memory is full, and reports whether it is. A table's keys are
// neighbors.
func (c *collector) readTables(ctx context.Context, path string) (full bool, err error) {
	errFull := errors.New("the memory for keys is full")
	_, err = ondisk.Keys(ctx, path, func(key []byte) error {
		if !c.add(key) {
			return errFull
		}
		return nil
	})
	if err == errFull {
		return true, nil
	}
	return false, err
}

// readText reads a file of lines. It refuses lines that are no text: a newline in such a key would
// have cut it in two.
func (c *collector) readText(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		key := lines.Bytes()
		if isBinary(key) {
			return fmt.Errorf("%s:%d: no text: pass the database or one of its tables", path, n)
		}
		if len(key) > 0 && !c.add(key) {
			return fmt.Errorf("%s: more than %d MiB of keys: pass a run of neighbors, such as the "+
				"first lines when sorted", path, c.limit>>20)
		}
	}
	if err := lines.Err(); err != nil { // such as a line of more than 64 KiB, hardly a key
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// isBinary reports whether a line has bytes that no text has: control characters other than tabs,
// or bytes that are not UTF-8.
func isBinary(line []byte) bool {
	return !utf8.Valid(line) || bytes.ContainsFunc(line, func(r rune) bool {
		return r != '\t' && unicode.IsControl(r)
	})
}
