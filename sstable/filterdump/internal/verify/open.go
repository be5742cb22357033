package tables

import (
	"cmp"
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

// Guard calls f, and returns an error for its panic. The engines' readers trust bytes whose
// checksum is right.
func Guard[T any](f func() (T, error)) (result T, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // forged offsets make wild pointers
	defer func() {
		switch p := recover(); p {
		case nil:
		case "Invalid compression type.":
			err = fmt.Errorf("%w: a compression that Pebble does not have", ErrUnsupported)
		default:
			err = fmt.Errorf("%w: %v", ErrCrashed, p)
		}
	}()
	return f()
}

// Options say what is known of a table.
type Options struct {
	Policies []string // whose filters package policy reads: the patterns of IsOurs
	Database bool     // it is part of one, so its keys are internal
	Size     int64    // how many bytes of the file it takes; 0: all
}

// A tableFile is a file that ends as a table does.
type tableFile struct {
	*os.File
	size   int64
	format magic.Format
}

func openFile(path string, o Options) (f tableFile, err error) {
	// To open a pipe would wait for a writer.
	f.File, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f, err
	}
	if err = f.readEnd(o); err != nil {
		f.Close()
	}
	return f, err
}

// readEnd finds out where the table ends, and of which format it is.
func (f *tableFile) readEnd(o Options) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case info.Size() < o.Size:
		return fmt.Errorf("%w: it has %d bytes, and its manifest says %d",
			ErrNoEnd, info.Size(), o.Size)
	}
	f.size = cmp.Or(o.Size, info.Size())
	if f.format, _, err = magic.Of(f, f.size); err != nil || f.format != magic.Unknown {
		return err
	}
	if o.Size == 0 {
		if end, err := magic.Last(f, f.size); end > 0 || err != nil {
			return cmp.Or(err, fmt.Errorf("%w: more follows what may be a table of %d bytes",
				ErrUnsupported, end))
		}
	}
	return fmt.Errorf("%w: its %d bytes do not end in a magic number", ErrNoEnd, f.size)
}

// IsPebbles reports whether the table in a file has one of Pebble's formats.
func IsPebbles(path string) bool {
	f, err := openFile(path, Options{})
	return err == nil && f.Close() == nil && f.format != magic.LevelDB
}

// Open opens the table in a file. The errors are
//   - *sstable.CorruptionError: the file is damaged. If the error wraps ErrUnsupported, ErrUnknown,
//     sstable.ErrCompression or sstable.ErrTooLarge, it may be right, but is not read here
//   - *sstable.FormatError, or one that wraps ErrNoEnd: it is another table, or none; or one that
//     wraps ErrUnsupported: more follows what may be a table
//   - an error of opening or reading the file
//
// Pebble's reader trusts bytes whose checksum is right. On forged ones Open and the table's methods
// may panic, end the process, or take any time and memory.
func Open(path string, o Options) (Table, error) {
	f, err := openFile(path, o)
	if err != nil {
		return nil, err
	}
	open := openPebble
	if f.format == magic.LevelDB {
		open = openLevelDB
	}
	t, err := open(f, o)
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
