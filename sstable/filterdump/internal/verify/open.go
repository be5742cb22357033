package verify

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A table is one table file as its filters see it.
type table struct {
	size, indexBytes int64

	filters *filters // nil: none
	doubt   string   // why they cannot be compared with the keys, if that is so

	// keys calls f for each point entry in file order: with the key as the filters know it, and the
	// index of the filter that covers it, -1 for none; in a table without filters, of the one that
	// would. The key's memory is reused after f returns. The errors are those of open.
	keys  func(f func(filter int, key []byte)) error
	close func() error
}

var (
	// errNoTable is wrapped by the error for a file that does not end as a table does.
	errNoTable = errors.New("not a table")
	// errNotRead is wrapped by the error for a table that may be right, but not for this program.
	errNotRead = errors.New("not read here")
	// errCrashed is wrapped by the error for a reader that panicked.
	errCrashed = errors.New("the engine's reader crashed")
)

// Guard calls f, and returns an error for its panic. The engines' readers trust bytes whose
// checksum is right.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // forged offsets make wild pointers
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errCrashed, p)
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

func (f File) openFile() (file tableFile, err error) {
	// To open a pipe would wait for a writer.
	file.File, err = os.OpenFile(f.Open, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return file, err
	}
	if err = file.readEnd(f.Size); err != nil {
		file.Close()
	}
	return file, err
}

// readEnd finds out of which format the table is that takes size bytes of the file, or all if that
// is 0.
func (f *tableFile) readEnd(size int64) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case info.Size() < size:
		return fmt.Errorf("%w: it has %d bytes, and its manifest says %d",
			errNoTable, info.Size(), size)
	}
	f.size = cmp.Or(size, info.Size())
	f.format, _, err = magic.Of(f, f.size)
	if err == nil && f.format == magic.Unknown {
		err = fmt.Errorf("%w: its %d bytes do not end in a magic number", errNoTable, f.size)
	}
	return err
}

// IsPebbles reports whether the table in a file has one of Pebble's formats.
func IsPebbles(path string) bool {
	f, err := File{Open: path}.openFile()
	return err == nil && f.Close() == nil && f.format != magic.LevelDB
}

// open opens the table. The errors are
//   - *sstable.CorruptionError: the file is damaged. If the error wraps errNotRead,
//     sstable.ErrCompression or sstable.ErrTooLarge, it may be right, but is not read here
//   - *sstable.FormatError, or one that wraps errNoTable: it is another table, or none
//   - an error of opening or reading the file
//
// Pebble's reader trusts bytes whose checksum is right. On forged ones open and the table's
// functions may panic, end the process, or take any time and memory.
func (f File) open() (*table, error) {
	file, err := f.openFile()
	if err != nil {
		return nil, err
	}
	var t *table
	if file.format == magic.LevelDB {
		t, err = openLevelDB(file, f)
	} else {
		t, err = openPebble(pebbleFile{file})
	}
	if err != nil {
		file.Close()
	}
	return t, err
}
