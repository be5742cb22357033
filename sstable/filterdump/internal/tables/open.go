package tables

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// An UnsupportedError is a table of a known format that cannot be read here.
type UnsupportedError struct {
	Path   string
	Format string
	Cause  string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Path, e.Format, e.Cause)
}

// ErrNoEnd is wrapped by the error for a file that does not end as a table does.
var ErrNoEnd = errors.New("not a table")

// Options say what a table does not tell itself.
type Options struct {
	Bloom []string // further policies whose filters package policy reads
}

// FormatOf returns the format of a file by its end. The error wraps ErrNoEnd if it is no table's.
func FormatOf(path string) (magic.Format, error) {
	file, size, err := openFile(path)
	if err != nil {
		return magic.Unknown, err
	}
	defer file.Close()
	return formatOf(path, file, size)
}

func formatOf(path string, file *os.File, size int64) (magic.Format, error) {
	format, _, err := magic.Of(file, size)
	if err == nil && format == magic.Unknown {
		err = &sstable.CorruptionError{File: path, Offset: -1, Cause: fmt.Errorf(
			"%w: its %d bytes do not end in a magic number", ErrNoEnd, size)}
	}
	return format, err
}

// openFile opens a regular file: to open a pipe would wait for a writer.
func openFile(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = file.Stat(); err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// readStart returns the first bytes of a regular file, at most n.
func readStart(path string, n int64) ([]byte, error) {
	file, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, n))
}

// Open opens the table in a file. Its errors are
//   - *[sstable.CorruptionError]: the file is damaged, or no table
//   - *[UnsupportedError]: it is a table that cannot be read here
//   - those of opening and reading the file
//
// Pebble's reader trusts bytes whose checksum is right. On forged ones Open and the table's methods may panic, or end the process.
func Open(path string, o Options) (Table, error) {
	file, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	t, err := open(path, file, size, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

func open(path string, file *os.File, size int64, o Options) (Table, error) {
	format, err := formatOf(path, file, size)
	switch {
	case err != nil:
		return nil, err
	case NeedsPebble(format):
		return openPebble(path, file, size, o)
	}
	return openLevelDB(path, file, size, o)
}

// NeedsPebble reports whether tables of a format are read with Pebble's reader.
func NeedsPebble(f magic.Format) bool { return f != magic.LevelDB }

// bytewise is the name of LevelDB's and Pebble's default comparer, under which filters know whole
// keys.
const bytewise = "leveldb.BytewiseComparator"
