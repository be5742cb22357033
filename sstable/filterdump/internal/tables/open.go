package tables

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

// NeedsPebble reports whether Pebble's reader reads the table in a file. The error wraps ErrNoEnd
// if the file does not end as a table does.
func NeedsPebble(path string) (bool, error) {
	file, size, err := openFile(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	return needsPebble(path, file, size)
}

func needsPebble(path string, file *os.File, size int64) (bool, error) {
	format, _, err := magic.Of(file, size)
	if err == nil && format == magic.Unknown {
		err = &sstable.CorruptionError{File: path, Offset: -1, Cause: fmt.Errorf(
			"%w: its %d bytes do not end in a magic number", ErrNoEnd, size)}
	}
	return format != magic.LevelDB, err
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

// ReadStart returns the first bytes of a regular file, at most n.
func ReadStart(path string, n int64) ([]byte, error) {
	file, _, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, n))
}

// Open opens the table in a file. Package policy reads the filters under the names in bloom, too. The
// errors are
//   - *[sstable.CorruptionError]: the file is damaged, or no table
//   - *[UnsupportedError]: it is a table that cannot be read here
//   - an error of opening or reading the file
//
// Pebble's reader trusts bytes whose checksum is right. On forged ones Open and the table's methods
// may panic or end the process.
func Open(path string, bloom ...string) (t Table, err error) {
	file, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	switch pebble, noTable := needsPebble(path, file, size); {
	case noTable != nil:
		err = noTable
	case pebble:
		t, err = openPebble(path, file, size, bloom)
	default:
		t, err = openLevelDB(path, file, size, bloom)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}

// HasName reports whether a path has the name that the engines give to tables.
func HasName(path string) bool {
	return slices.Contains([]string{".ldb", ".sst"}, strings.ToLower(filepath.Ext(path)))
}

// Find returns the paths of the tables in a database's directory, sorted. A directory without
// tables is an error.
func Find(dir string) (tables []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && HasName(e.Name()) {
			tables = append(tables, filepath.Join(dir, e.Name()))
		}
	}
	if err == nil && len(tables) == 0 {
		err = errors.New("no tables (.ldb, .sst); the data of a new database is all in its log")
	}
	return tables, err
}
