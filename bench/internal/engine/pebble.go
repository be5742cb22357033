package engine

import (
	"context"
	"fmt"
	"io"
	"syscall"
)

//go:generate sh -c "sed -f pebblev1.sed pebblev2.go | gofmt >pebblev1.go"

// Pebble's first memtable has 256 KiB, and each next one twice as many. Version 2 begins the second
// one when it opens a database again, and keeps the first for reuse.
const (
	pebbleV1MemTables = 256 << 10
	pebbleV2MemTables = 3 * 256 << 10
)

// bottom is the deepest level, whose filters Pebble's own Get does not consult.
const bottom = 6

// pebbleDB is a database of either version of Pebble, whose packages share no types.
type pebbleDB struct {
	flushCloser
	put      func(key, value []byte) error
	get      func(key []byte) ([]byte, io.Closer, error)
	notFound error
	tables   func() (Tables, error)
	running  func() int64 // flushes and compactions
}

type flushCloser interface {
	Flush() error
	Close() error
}

func (db *pebbleDB) Put(key, value []byte) error { return db.put(key, value) }
func (db *pebbleDB) Tables() (Tables, error)     { return db.tables() }

func (db *pebbleDB) Get(key []byte) (bool, error) {
	_, closer, err := db.get(key)
	switch err {
	case nil:
		return true, closer.Close()
	case db.notFound:
		return false, nil
	}
	return false, err
}

func (db *pebbleDB) Settle(ctx context.Context) error {
	if err := db.Flush(); err != nil {
		return err
	}
	return settle(ctx, func() (bool, error) {
		return db.running() == 0, nil
	})
}

// diskFull ends the benchmark. Pebble panics once it learns of a full disk.
func (c Config) diskFull() {
	c.OnFatal(fmt.Errorf("%s: %w", c.Dir, syscall.ENOSPC))
	select {}
}

// pebbleLogger keeps Pebble's messages out of the output, and Pebble from ending the program.
type pebbleLogger struct{ onFatal func(error) }

func (pebbleLogger) Infof(string, ...any)  {}
func (pebbleLogger) Errorf(string, ...any) {}

// Fatalf does not return, because Pebble relies on that; the caller of onFatal ends the program.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.onFatal(fmt.Errorf(format, args...))
	select {}
}
