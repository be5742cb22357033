package tables

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

var (
	// ErrNoEnd is wrapped by the error for a file that does not end as a table does.
	ErrNoEnd = errors.New("not a table")
	// ErrUnsupported is wrapped by the error for a table of a kind that is not read here.
	ErrUnsupported = errors.New("not read here")
	// ErrUnknown is wrapped by the error for a table with a comparer or a key schema that may be
	// right: without it, nobody knows which part of a key the filters know.
	ErrUnknown = errors.New("not known here")
	// ErrCrashed is wrapped by the error for a reader that panicked.
	ErrCrashed = errors.New("the engine's reader crashed")
)

// Guard calls f, and returns an error for its panic. The engines' readers trust bytes whose checksum
// is right.
func Guard[T any](f func() (T, error)) (result T, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // forged offsets make wild pointers
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCrashed, p)
		}
	}()
	return f()
}

// A tableFile is a file that ends as a table does.
type tableFile struct {
	*os.File
	size   int64
	format magic.Format
}

func openFile(path string) (f tableFile, err error) {
	// To open a pipe would wait for a writer.
	f.File, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil {
		f.size = info.Size()
		f.format, _, err = magic.Of(f, f.size)
	}
	if err == nil && f.format == magic.Unknown {
		err = fmt.Errorf("%w: its %d bytes do not end in a magic number", ErrNoEnd, f.size)
	}
	if err != nil {
		f.Close()
	}
	return f, err
}

// IsPebbles reports whether the table in a file has one of Pebble's formats.
func IsPebbles(path string) bool {
	f, err := openFile(path)
	return err == nil && f.Close() == nil && f.format != magic.LevelDB
}

// Open opens the table in a file. Package policy reads the filters of the policies that IsOurs. The
// errors are
//   - *sstable.CorruptionError: the file is damaged. If the error wraps ErrUnsupported, ErrUnknown,
//     sstable.ErrCompression or sstable.ErrTooLarge, it may be right, but is not read here
//   - *sstable.FormatError, or one that wraps ErrNoEnd: it is another table, or none
//   - an error of opening or reading the file
//
// Pebble's reader trusts bytes whose checksum is right. On forged ones Open and the table's methods
// may panic, end the process, or take any time and memory.
func Open(path string, patterns []string) (Table, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	open := openPebble
	if f.format == magic.LevelDB {
		open = openLevelDB
	}
	t, err := open(f, patterns)
	if err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

// HasName reports whether a path has the name that the engines give to tables.
func HasName(path string) bool {
	return slices.Contains([]string{".ldb", ".sst"}, strings.ToLower(filepath.Ext(path)))
}
