package engine

import (
	"fmt"
	"syscall"
)

// The packages of Pebble's versions share no types: pebblev1.go is generated.
//
//go:generate sh -c "sed -f pebblev1.sed pebblev2.go | gofmt >pebblev1.go"

// Pebble's first memtable has 256 KiB, and each next one twice as many. Version 2 begins the second
// one when it opens a database again, and keeps the first for reuse.
const (
	pebbleV1MemTables = 256 << 10
	pebbleV2MemTables = 3 * 256 << 10
)

// bottom is the deepest level, whose filters Pebble's own Get does not consult.
const bottom = 6

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
