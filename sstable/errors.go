package sstable

import (
	"cmp"
	"errors"
	"fmt"
	"io"
)

var (
	// ErrTooLarge says that a block, or its keys together, exceed 256 MiB or what any engine
	// writes. The error that wraps it says which.
	ErrTooLarge = errors.New("a block that is too large")

	// ErrCompression says that a block has a right checksum, but a compression that LevelDB's
	// releases do not have: zstd, which is newer than release 1.23, or a fork's own.
	ErrCompression = errors.New("unknown compression")
)

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
}

func (e *FormatError) Error() string {
	if e.Format != "" {
		return fmt.Sprintf("%s: a table in %s format, not in LevelDB's", fileName(e.File), e.Format)
	}
	return fileName(e.File) + ": not a table: it does not end in a magic number"
}

func fileName(name string) string { return cmp.Or(name, "sstable") }

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
