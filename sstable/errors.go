package sstable

import (
	"errors"
	"fmt"
	"io"
)

var errNilOption = errors.New("sstable: an option is nil: leave it out")

// A CorruptionError says which bytes of a file are not what they should be.
type CorruptionError struct {
	File   string // as given to WithFileName; may be empty
	Offset int64  // in the file, of the part that is wrong or of its block; -1 if unknown
	Cause  error
}

func (e *CorruptionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: corrupt: %v", fileName(e.File), e.Cause)
	}
	return fmt.Sprintf("%s: corrupt at offset %d: %v", fileName(e.File), e.Offset, e.Cause)
}

func (e *CorruptionError) Unwrap() error { return e.Cause }

func fileName(name string) string {
	if name == "" {
		return "table"
	}
	return name
}

// ErrTooLarge is wrapped by the error for a block that is larger than [WithMaxBlockSize] allows, or
// whose keys add up to more than any engine's do. The error says which.
var ErrTooLarge = errors.New("a block that is too large")

// tooLargeError is an ErrTooLarge with the sizes.
type tooLargeError struct{ error }

func (tooLargeError) Is(target error) bool { return target == ErrTooLarge }

func tooLarge(format string, args ...any) error {
	return tooLargeError{fmt.Errorf(format, args...)}
}

// A readError is a failure to read, which says nothing about the bytes.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }

func (e *readError) Unwrap() error { return e.err }

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
