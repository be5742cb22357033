package engine

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"
)

// pebbleDB is a database of either version of Pebble, whose packages share no types.
type pebbleDB struct {
	set      func(key, value []byte) error
	get      func(key []byte) (io.Closer, error)
	notFound error
	flush    func() error
	running  func() int64 // flushes and compactions
	tables   func() ([]Level, error)
	filter   func() (avoided, other int64) // Pebble calls them hits and misses
	close    func() error
}

func (db *pebbleDB) Put(key, value []byte) error { return db.set(key, value) }
func (db *pebbleDB) Tables() ([]Level, error)    { return db.tables() }
func (db *pebbleDB) Close() error                { return db.close() }

func (db *pebbleDB) Get(key []byte) (bool, error) {
	value, err := db.get(key)
	switch err {
	case nil:
		return true, value.Close()
	case db.notFound:
		return false, nil
	}
	return false, err
}

func (db *pebbleDB) Settle(ctx context.Context) (idleSince time.Time, err error) {
	if err := db.flush(); err != nil {
		return time.Time{}, err
	}
	return settle(ctx, func() (bool, error) { return db.running() == 0, nil })
}

func (db *pebbleDB) Checks() (checks, avoided int64, ok bool) {
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
