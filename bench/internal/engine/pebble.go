package engine

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"
)

// Pebble's first memtable has 256 KiB, and each next one twice as many. Version 2 begins the second
// one when it opens a database again, and keeps the first for reuse.
const (
	pebbleV1MemTables = 256 << 10
	pebbleV2MemTables = 3 * 256 << 10
)

// pebbleDB is a database of either version of Pebble, whose packages share no types.
type pebbleDB[O any] struct {
	pebbleVersion[O]
	noSync   O
	notFound error
	get      func(key []byte) ([]byte, io.Closer, error)
	compact  func(ctx context.Context, first, last []byte) error
	running  func() int64 // flushes and compactions
	tables   func() ([]Level, error)
	filter   func() (avoided, other int64) // Pebble calls them hits and misses
}

type pebbleVersion[O any] interface {
	Set(key, value []byte, options O) error
	Flush() error
	Close() error
}

func (db *pebbleDB[O]) Put(key, value []byte) error { return db.Set(key, value, db.noSync) }
func (db *pebbleDB[O]) Tables() ([]Level, error)    { return db.tables() }

func (db *pebbleDB[O]) Get(key []byte) (bool, error) {
	_, closer, err := db.get(key)
	switch err {
	case nil:
		return true, closer.Close()
	case db.notFound:
		return false, nil
	}
	return false, err
}

func (db *pebbleDB[O]) Compact(ctx context.Context) error {
	return db.compact(ctx, []byte{0}, afterAllKeys)
}

func (db *pebbleDB[O]) Settle(ctx context.Context) (idleSince time.Time, err error) {
	if err := db.Flush(); err != nil {
		return time.Time{}, err
	}
	return settle(ctx, func() (bool, error) { return db.running() == 0, nil })
}

func (db *pebbleDB[O]) Checks() (checks, avoided int64, ok bool) {
	avoided, other := db.filter()
	return avoided + other, avoided, true
}

// add counts one table, with or without a filter.
func (l *Level) add(tableBytes, filterBytes, keys uint64) {
	l.Tables++
	l.Bytes += int64(tableBytes)
	if filterBytes == 0 {
		return
	}
	squares := l.KeysPerFilter*float64(l.Keys) + float64(keys)*float64(keys)
	l.Filters++
	l.FilterBytes += int64(filterBytes)
	l.Keys += int64(keys)
	l.KeysPerFilter = squares / float64(l.Keys)
}

// pebblePolicy is the FilterPolicy of either version.
type pebblePolicy[T, W any] interface {
	Name() string
	MayContain(t T, filter, key []byte) bool
	NewWriter(t T) W
}

// pebbleFilter gives the filters of a level a name of their own, because Pebble chooses the reader
// of a filter by its name, and counts what they are asked.
type pebbleFilter[T, W any] struct {
	pebblePolicy[T, W]
	level  int
	counts *Counts // may be nil
}

func (p *pebbleFilter[T, W]) Name() string {
	return fmt.Sprintf("%s.L%d", p.pebblePolicy.Name(), p.level)
}

func (p *pebbleFilter[T, W]) MayContain(t T, filter, key []byte) bool {
	may := p.pebblePolicy.MayContain(t, filter, key)
	if p.counts != nil {
		p.counts.add(p.level, may)
	}
	return may
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
