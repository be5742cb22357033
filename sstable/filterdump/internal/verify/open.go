package verify

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

// A table is one table file as its filters see it.
type table struct {
	filters *filters // nil: none
	doubt   string   // why they cannot be compared with the keys, if that is so

	// keys calls f for each point entry in file order: with the key as the filters know it, and the
	// index of the filter that covers it, or would if there were so many. The key's memory is reused
	// after f returns. The errors are those of open.
	keys func(f func(filter uint64, key []byte)) error
}

var (
	errNoTable = errors.New("not a table")                 // it does not end as a table does
	errNotRead = errors.New("not read here")               // a table that may be right
	errCrashed = errors.New("the engine's reader crashed") // it panicked
	errRocksDB = errors.New("written by RocksDB: filterdump does not read its filters")

	errCompression = fmt.Errorf("%w: a compression that Pebble does not have", errNotRead)
)

// Guard calls f, and returns an error for its panic. The engines' readers trust bytes whose
// checksum is right.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // forged offsets make wild pointers
	defer func() {
		switch p := recover(); p {
		case nil:
		case "Invalid compression type.": // Pebble's reader says no more
			err = errCompression
		default:
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

// openFile opens a file of which a table takes size bytes, or all if that is 0.
func openFile(path string, size int64) (f tableFile, err error) {
	// To open a pipe would wait for a writer.
	if f.File, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return f, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	case info.Size() < size:
		err = fmt.Errorf("%w: it has %d bytes, and its manifest says %d",
			errNoTable, info.Size(), size)
	default:
		f.size = cmp.Or(size, info.Size())
		if f.format, _, err = magic.Of(f, f.size); err == nil && f.format == magic.Unknown {
			err = fmt.Errorf("%w: its %d bytes do not end in a magic number", errNoTable, f.size)
			if end, _ := magic.Last(f, f.size); size == 0 && end > 0 {
				err = fmt.Errorf("%w: more follows what may be a table of %d bytes", errNotRead, end)
			}
		}
	}
	if err != nil {
		f.Close()
	}
	return f, err
}

// IsPebbles reports whether the table in a file has one of Pebble's formats.
func IsPebbles(path string) bool {
	f, err := openFile(path, 0)
	return err == nil && f.Close() == nil && f.format != magic.LevelDB
}

// open opens the table in a file, which must stay open, and notes in r what it is. The errors are
//   - *sstable.CorruptionError: the file is damaged. If the error wraps errNotRead,
//     sstable.ErrCompression or sstable.ErrTooLarge, it may be right, but is not read here
//   - an error of reading the file
func (f File) open(file tableFile, r *Result) (*table, error) {
	r.Size = file.size
	if file.format == magic.LevelDB {
		return f.openLevelDB(file, r)
	}
	return f.openPebble(pebbleFile{file}, r)
}

// openLevelDB opens a table of C++ LevelDB or goleveldb.
func (f File) openLevelDB(file tableFile, r *Result) (*table, error) {
	opts := []sstable.TableOption{sstable.WithFileName(file.Name())}
	if f.Database {
		opts = append(opts, sstable.WithInternalKeys())
	}
	source, err := sstable.OpenTable(file, file.size, opts...)
	if format := (*sstable.FormatError)(nil); errors.As(err, &format) { // its oldest version
		err = errRocksDB
	}
	if err != nil {
		return nil, err
	}
	t := &table{}
	r.IndexBytes = source.IndexSize()
	if source.KeysInDoubt() { // as in tables that leveldb.RecoverFile writes
		t.doubt = "its keys are internal by the data, and not by the index: pass its database"
	}
	baseLg := 11 // the default: of the windows that filters would have
	// No engine writes more than one filter block.
	if entries := source.Filters(); len(entries) > 0 {
		block, err := source.OpenFilter(entries[0])
		if err != nil {
			return nil, err
		}
		r.Policy, r.FilterBytes = entries[0].Policy, int64(entries[0].Handle.Length)
		t.filters = f.filtersOf(r.Policy, false)
		windows := block.Windows()
		baseLg = windows.BaseLg()
		for i := range windows.NumFilters() {
			t.filters.each = append(t.filters.each, windows.Filter(i))
		}
		if entries[0].Foreign {
			t.doubt = "its filters are those of Basho's LevelDB, not of C++ LevelDB"
		}
	}
	t.keys = func(take func(filter uint64, key []byte)) error {
		for e, err := range source.Entries() {
			if err != nil {
				return err
			}
			take(source.Block(e.Block).Offset>>baseLg, e.Key)
		}
		return nil
	}
	return t, nil
}
