package levelbench

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/bench/engine"
)

// A database is an open Pebble with meters around its filters.
type database struct {
	*pebble.DB
	meters [engine.NumLevels]*meter // nil for a level without filters
	asking action
	prefix bool
}

// A geometry shrinks Pebble's with the data, so that some 100 MB spread over as many levels as some 100 GB do with the default
// settings. Tables are in proportion to the memtable as by default, and double in size from level to level.
type geometry struct {
	memTable  int
	table     int // in L0, and in the first level below it
	baseLevel int // the first level below L0
	cache     int // holds a part of the data, and the memtables, which Pebble takes out of it
}

func geometryFor(data int) geometry {
	memTable := min(max(data/32, 256<<10), 64<<20)
	return geometry{memTable: memTable, table: memTable / 2, baseLevel: max(data/64, 64<<10), cache: max(data/8, 1<<20) + 3*memTable}
}

// open opens a new database in dir, for so many bytes of data.
func (c *Config) open(dir string, plan Plan, data int) (*database, error) {
	g := geometryFor(data)
	o := &pebble.Options{
		FormatMajorVersion: pebble.FormatNewest,
		MemTableSize:       uint64(g.memTable),
		LBaseMaxBytes:      int64(g.baseLevel),
		CacheSize:          int64(g.cache),
		Logger:             logger{c.OnFatal},
		FS: vfs.OnDiskFull(vfs.Default, func() {
			c.OnFatal(fmt.Errorf("%s: %w", dir, syscall.ENOSPC))
			select {} // Pebble panics if it learns that it cannot write; the caller of OnFatal ends the program
		}),
		EventListener: &pebble.EventListener{BackgroundError: c.OnFatal},
	}
	o.TargetFileSizes[0], o.TargetFileSizes[1] = int64(g.table), int64(g.table)
	o.Experimental.LevelMultiplier = c.Factor
	o.Experimental.ReadSamplingMultiplier = -1                           // reading must not set off compactions
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{} // it would leave the levels above L6 nearly empty
	db := &database{prefix: c.Read == engine.Prefix}
	var err error
	if db.meters, err = plan.configure(o, c.Bits, db.prefix); err != nil {
		return nil, err
	}
	for _, m := range db.meters {
		if m != nil {
			m.asking = &db.asking
		}
	}
	db.DB, err = pebble.Open(dir, o)
	return db, err
}

// find reports whether key is present; it reads the value if so.
func (db *database) find(key []byte) (bool, error) {
	if db.prefix {
		return db.seek(key)
	}
	_, closer, err := db.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	return true, closer.Close()
}

// seek is find by an iterator, which asks the filters in L6 too. It is a new one each time: it sees what was written before.
func (db *database) seek(key []byte) (bool, error) {
	it, err := db.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return false, err
	}
	found := it.SeekPrefixGE(key) // the prefix is the whole key
	if found {
		_, err = it.ValueAndErr()
	}
	return found, errors.Join(err, it.Close())
}

// settle waits until flushes and compactions are idle. Between two of them Pebble looks idle for a moment.
func (db *database) settle(ctx context.Context) error {
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for inARow := 0; inARow < 5; {
		if m := db.Metrics(); m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0 {
			inARow++
		} else {
			inARow = 0
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-poll.C:
		}
	}
	return nil
}

// tables describes the tables on disk.
func (db *database) tables() (t engine.Tables, err error) {
	levels, err := db.SSTables(pebble.WithProperties())
	if err != nil {
		return t, err
	}
	for _, tables := range levels {
		l := engine.Level{Tables: int64(len(tables))}
		for _, table := range tables {
			l.Bytes += int64(table.Size)
			if p := table.Properties; p.FilterSize > 0 {
				l.FilterBytes += int64(p.FilterSize)
				t.Filters++
				t.FilteredKeys += int64(p.NumEntries)
			}
		}
		t.FilterBytes += l.FilterBytes
		t.Levels = append(t.Levels, l)
	}
	return t, nil
}

// logger keeps Pebble's chatter out of the output, and Pebble from ending the program on a fatal error.
type logger struct{ onFatal func(error) }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}

// Fatalf does not return, because Pebble relies on that; the caller of onFatal ends the program.
func (l logger) Fatalf(format string, args ...any) {
	l.onFatal(fmt.Errorf(format, args...))
	select {}
}
