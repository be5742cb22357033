package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// memTables is what memtables take out of the block cache. Pebble's first memtable has 256 KiB, and
// each next one twice as many. Pebble begins the second one when it opens a database again, and
// keeps the first for reuse.
const memTables = 3 * 256 << 10

// bottom is the deepest level, whose filters Pebble's own Get does not consult.
const bottom = 6

func openPebble(c Config, p policy.Policy) (DB, error) {
	statsLoaded := make(chan struct{})
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(c.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(c.baseLevel()),
		Logger:                pebbleLogger{c.OnFatal},
		FS:                    vfs.OnDiskFull(vfs.Default, c.diskFull),
		ReadOnly:              c.Counting,
		CacheSize:             int64(c.Cache + memTables),
	}
	o.EventListener = &pebble.EventListener{BackgroundError: c.OnFatal,
		TableStatsLoaded: func(pebble.TableStatsInfo) { close(statsLoaded) }}
	if c.Disk != nil {
		o.FS = errorfs.Wrap(o.FS, errorfs.InjectorFunc(c.Disk.pebbleRead))
	}
	o.Experimental.LevelMultiplier = levelFactor
	o.Experimental.ReadSamplingMultiplier = -1 // reading must not start compactions
	// The default heuristic would leave the levels above L6 nearly empty.
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{}
	var err error
	if c.Filter == RibbonL6 {
		err = pebblev2.Configure(o, p, pebblev2.WithL6(p))
	} else if p != nil {
		err = pebblev2.Configure(o, p)
	}
	if err != nil {
		return nil, err
	}
	counted := new(counter)
	for i := range o.Levels {
		o.TargetFileSizes[i] = int64(c.table())
		l := &o.Levels[i]
		if c.Filter == BuiltIn && i < bottom {
			l.FilterPolicy = bloom.FilterPolicy(c.Bits)
		}
		if c.Counting && l.FilterPolicy != nil {
			l.FilterPolicy = &pebbleCounted{l.FilterPolicy, counted}
		}
		if l.FilterPolicy == nil {
			l.FilterPolicy = pebble.NoFilterPolicy // nil would inherit
		}
	}
	o.Filters = nil // Open fills it from the levels
	db, err := pebble.Open(c.Dir, o)
	if err != nil {
		return nil, err
	}
	if !c.Counting { // in the background, Pebble reads a little of each table that it finds
		<-statsLoaded
	}
	get := db.Get
	if c.Filter == RibbonL6 {
		get = func(key []byte) ([]byte, io.Closer, error) { return pebblev2.Get(db, key) }
	}
	return &pebbleDB{db, get, counted}, nil
}

type pebbleDB struct {
	*pebble.DB
	get func(key []byte) ([]byte, io.Closer, error)
	*counter
}

func (db *pebbleDB) Put(key, value []byte) error { return db.Set(key, value, pebble.NoSync) }

func (db *pebbleDB) Get(key []byte) (bool, error) {
	_, closer, err := db.get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	return true, closer.Close()
}

func (db *pebbleDB) Compact(ctx context.Context) error {
	return db.DB.Compact(ctx, []byte{0}, afterAllKeys, true)
}

func (db *pebbleDB) Settle(ctx context.Context) error {
	if err := db.Flush(); err != nil {
		return err
	}
	return settle(ctx, func() (bool, error) {
		m := db.Metrics()
		return m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0, nil
	})
}

func (db *pebbleDB) Tables() (sum Tables, err error) {
	levels, err := db.SSTables(pebble.WithProperties())
	for _, t := range slices.Concat(levels...) {
		if t.Properties.FilterSize > 0 {
			sum.Filters++
			sum.FilterBytes += int64(t.Properties.FilterSize)
			sum.Keys += int64(t.Properties.NumEntries)
		}
	}
	return sum, err
}

// pebbleCounted counts how a policy's filters are consulted.
type pebbleCounted struct {
	pebble.FilterPolicy
	*counter
}

func (f *pebbleCounted) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return f.count(filter, key, f.FilterPolicy.MayContain(t, filter, key))
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
