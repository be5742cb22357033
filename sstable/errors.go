package sstable

import (
	"errors"
	"fmt"
	"io"

	"github.com/levelbloom/levelbloom/sstable/internal/magic"
)

var (
	errNilOption = errors.New("sstable: an option is nil: leave it out")
	errZeroValue = errors.New("sstable: a zero value was used: " +
		"get builders, readers and tables from their constructors, and check the errors")
)

// mustBeMade panics if a value was not made by its constructor.
func mustBeMade(made bool) {
	if !made {
		panic(errZeroValue)
	}
}

// ErrTooLarge is wrapped by the error for a block that is larger than 256 MiB uncompressed, or
// whose keys add up to more than that or than any engine writes. The message says which.
var ErrTooLarge = errors.New("a block that is too large")

// A CorruptionError says which bytes of a file or of a filter block are not what they should be.
type CorruptionError struct {
	File   string // as given to WithFileName; may be empty
	Offset int64  // of the wrong bytes or of their block; negative if unknown
	Cause  error
}

func (e *CorruptionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: corrupt: %v", fileName(e.File), e.Cause)
	}
	return fmt.Sprintf("%s: corrupt at offset %d: %v", fileName(e.File), e.Offset, e.Cause)
}

func (e *CorruptionError) Unwrap() error { return e.Cause }

// A FormatError says that a file is not a table of LevelDB's, and what it is instead.
type FormatError struct {
	File string // as given to WithFileName; may be empty

	// Format is "Pebble" or "RocksDB", and empty if the file is no table of a known format.
	Format string

	size  int64
	magic uint64 // the file's last 8 bytes
}

func (e *FormatError) Error() string {
	switch {
	case e.Format != "":
		return fmt.Sprintf("%s: a table in %s format, not in LevelDB's", fileName(e.File), e.Format)
	case e.size < magic.Len:
		return fmt.Sprintf("%s: not a table: a file of %d bytes is too short for a magic number",
			fileName(e.File), e.size)
	}
	return fmt.Sprintf(
		"%s: not a table: the file ends in %#016x, which is no format's magic number",
		fileName(e.File), e.magic)
}

func fileName(name string) string {
	if name == "" {
		return "sstable"
	}
	return name
}

// A kindError is an error of an exported kind, and says more.
type kindError struct {
	kind error
	error
}

func (e kindError) Is(target error) bool { return target == e.kind }

func tooLarge(format string, args ...any) error {
	return kindError{ErrTooLarge, fmt.Errorf(format, args...)}
}

// A readError is a failure to read, which says nothing about the bytes.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

// readFull reads len(p) bytes at the offset. It returns a *readError, or io.ErrUnexpectedEOF if the
// file ends early.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p): // then an io.EOF may come with them
		return nil
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return &readError{err}
}
