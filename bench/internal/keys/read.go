package keys

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/levelbloom/levelbloom/sstable/filterdump/ondisk"
)

// MaxBytes bounds the keys in memory, each with the 24 bytes of its slice. Of a larger database Read
// takes neighbors: a filter has a run of neighbors, and their rate depends on that.
const MaxBytes = 128 << 20

// A Result is the keys that Read found, sorted, none twice.
type Result struct {
	Keys    List
	Sampled bool // there are more
	// Binary says that lines of a text file have bytes that no text has: a newline in a key has cut
	// it in two.
	Binary bool
}

// Read returns the keys of
//   - a text file: a key is the bytes of a line, in any order, or with hexadecimal its digits say
//     them. Empty lines do not count, nor does a carriage return before a line's end
//   - a table of LevelDB, goleveldb or Pebble
//   - the tables of a database in a directory, which may be in use. What is only in its log is left
//     out
//
// Nothing at path is changed. The same files give the same keys.
func Read(ctx context.Context, path string, hexadecimal bool) (*Result, error) {
	return read(ctx, path, hexadecimal, MaxBytes)
}

func read(ctx context.Context, path string, hexadecimal bool, limit int) (r *Result, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	r = new(Result)
	c := collector{limit: limit}
	switch {
	case !info.IsDir() && !info.Mode().IsRegular(): // such as a pipe, whose writer may never come
		err = fmt.Errorf("%s is no regular file: write the keys into one", path)
	case info.IsDir() || !hexadecimal && ondisk.IsTable(path):
		err = c.readTables(ctx, path, r)
	default:
		err = c.readText(path, hexadecimal, r)
	}
	c.compact()
	if err == nil && len(c.keys) == 0 {
		err = fmt.Errorf("%s: there are no keys", path)
	}
	r.Keys = c.keys
	return r, err
}

// readTables reads tables until the memory is full: a table's keys are neighbors.
func (c *collector) readTables(ctx context.Context, path string, r *Result) (err error) {
	full := errors.New("the memory for keys is full")
	_, err = ondisk.Keys(ctx, path, func(key []byte) error {
		if !c.add(key) {
			return full
		}
		return nil
	})
	if err == full {
		r.Sampled, err = true, nil
	}
	return err
}

// maxLine bounds a line. A longer one is hardly a key.
const maxLine = 1 << 20

// readText reads a file of lines.
func (c *collector) readText(path string, hexadecimal bool, r *Result) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		key := lines.Bytes()
		if hexadecimal {
			digits := bytes.TrimPrefix(bytes.TrimSpace(key), []byte("0x"))
			if key, err = hex.AppendDecode(nil, digits); err != nil {
				return fmt.Errorf("%s:%d: %w: with --hex, write two hexadecimal digits for each byte "+
					"of a key", path, n, err)
			}
		} else if !r.Binary {
			r.Binary = isBinary(key)
		}
		if len(key) > 0 && !c.add(key) {
			return fmt.Errorf("%s: more than %d MiB of keys: pass a run of neighbors, such as the "+
				"first lines when sorted", path, c.limit>>20)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s: a line of more than %d bytes: pass a file with one key per line, or a "+
			"database's directory", path, maxLine)
	}
	return lines.Err()
}

// isBinary reports whether a line has bytes that no text has: control characters but a tab, or what
// is not UTF-8.
func isBinary(line []byte) bool {
	return !utf8.Valid(line) || bytes.ContainsFunc(line, func(r rune) bool {
		return r != '\t' && unicode.IsControl(r)
	})
}
