package engines

import (
	"fmt"
	"os"
	"path/filepath"
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

// fail ends the program when an engine gives up, on a full disk for example: it may never return
// from a call.
func (d database) fail(err error) {
	_ = os.RemoveAll(filepath.Dir(d.dir))
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(2)
}

// diskFull is called before Pebble panics.
func (d database) diskFull() { d.fail(syscall.ENOSPC) }

// pebbleLogger keeps Pebble's messages out of the output.
type pebbleLogger struct{ database }

func (pebbleLogger) Infof(string, ...any)                {}
func (pebbleLogger) Errorf(string, ...any)               {}
func (l pebbleLogger) Fatalf(format string, args ...any) { l.fail(fmt.Errorf(format, args...)) }
