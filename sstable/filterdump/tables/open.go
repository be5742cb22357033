package tables

import (
	"fmt"
	"os"

	"github.com/levelbloom/levelbloom/sstable"
)

// An UnsupportedError is a table of a format that is known and cannot be read here.
type UnsupportedError struct {
	Path   string
	Format string
	Cause  string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Path, e.Format, e.Cause)
}

// Options say what a table does not tell itself.
type Options struct {
	Keys  sstable.KeyFormat // of tables in LevelDB's format
	Bloom []string          // policy names under which filters are those that encoding.LevelDB reads, besides the names that are known
}

// Open opens the table in a file. Its errors are
//   - *[sstable.CorruptionError], and *[sstable.FormatError] with FormatUnknown: the file is damaged, or no table
//   - *[UnsupportedError]: it is a table, and cannot be read
//   - those of opening and reading the file
func Open(path string, o Options) (Table, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := open(path, file, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

func open(path string, file *os.File, o Options) (Table, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	format, err := sstable.Identify(file, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	switch format {
	case sstable.FormatRocksDB, sstable.FormatPebble:
		return openPebble(path, file, size, o)
	case sstable.FormatRocksDBPlain, sstable.FormatRocksDBCuckoo:
		return nil, &UnsupportedError{path, format.String() + " table", "only block-based tables can be read"}
	default:
		return openLevelDB(path, file, size, o)
	}
}
