package sstable

import (
	"errors"
	"fmt"
	"io"
)

var (
	errNilPolicy = errors.New("sstable: the policy is nil: pass one that policy.NewBloom returned")
	errNilOption = errors.New("sstable: an option is nil: leave it out")
)

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
