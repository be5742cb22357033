package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
)

func openPebbleV1(c Config) (DB, error) {
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		Levels:                make([]pebble.LevelOptions, NumLevels),
		MemTableSize:          uint64(c.Scale.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(c.Scale.BaseLevel),
		Logger:                pebbleV1Logger{c.OnFatal},
		FS: vfs.OnDiskFull(vfs.Default, func() {
			c.OnFatal(fmt.Errorf("%s: %w", c.Dir, syscall.ENOSPC))
			select {} // Pebble panics once it learns of it; the caller of OnFatal ends the program
		}),
		EventListener: &pebble.EventListener{BackgroundError: c.OnFatal},
		ReadOnly:      c.Counts != nil,
	}
	for i := range o.Levels {
		o.Levels[i].TargetFileSize = int64(c.Scale.Table)
	}
	o.Experimental.LevelMultiplier = c.Scale.Factor
	o.Experimental.ReadSamplingMultiplier = -1 // reading must not start compactions
	// The default heuristic would leave the levels above L6 nearly empty.
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{}
	levels, err := c.levels()
	switch {
	case err != nil:
		return nil, err
	case levels != nil:
		if err := pebblev1.ConfigureLevels(o, levels); err != nil {
			return nil, err
		}
	case c.Filter == BuiltIn:
		for level := range o.Levels {
			o.Levels[level].FilterPolicy = bloom.FilterPolicy(WholeBits(c.Bits))
		}
		o.Levels[NumLevels-1].FilterPolicy = nil
	}
	for i, l := range o.Levels {
		if l.FilterPolicy != nil {
			o.Levels[i].FilterPolicy = &pebbleV1Filter{l.FilterPolicy, i, c.Counts}
		}
	}
	o.Filters = nil // Open fills it from the levels
	o.Cache = pebble.NewCache(int64(c.Cache))
	defer o.Cache.Unref() // the database keeps a reference of its own
	db, err := pebble.Open(c.Dir, o)
	if err != nil {
		return nil, err
	}
	return &pebbleV1{db}, nil
}

type pebbleV1 struct{ *pebble.DB }

func (db *pebbleV1) Put(key, value []byte) error { return db.DB.Set(key, value, pebble.NoSync) }

func (db *pebbleV1) Get(key []byte) (bool, error) {
	_, closer, err := db.DB.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	return true, closer.Close()
}

func (db *pebbleV1) Settle(ctx context.Context) (idleSince time.Time, err error) {
	if err := db.Flush(); err != nil {
		return time.Time{}, err
	}
	return settle(ctx, func() (bool, error) {
		m := db.Metrics()
		return m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0, nil
	})
}

func (db *pebbleV1) Tables() (levels []Level, err error) {
	tables, err := db.SSTables(pebble.WithProperties())
	for i, tables := range tables {
		l := Level{Level: i, Tables: int64(len(tables))}
		for _, table := range tables {
			l.Bytes += int64(table.Size)
			if p := table.Properties; p.FilterSize > 0 {
				l.add(p.FilterSize, p.NumEntries)
			}
		}
		levels = append(levels, l)
	}
	return levels, err
}

func (db *pebbleV1) Checks() (checks, avoided int64, ok bool) {
	f := db.Metrics().Filter // Pebble's "hits" are the reads avoided
	return f.Hits + f.Misses, f.Hits, true
}

// pebbleV1Filter gives the filters of a level a name of their own, because Pebble chooses the
// reader of a filter by its name, and counts what they are asked.
type pebbleV1Filter struct {
	pebble.FilterPolicy
	level  int
	counts *Counts // may be nil
}

func (p *pebbleV1Filter) Name() string {
	return fmt.Sprintf("%s.L%d", p.FilterPolicy.Name(), p.level)
}

func (p *pebbleV1Filter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	may := p.FilterPolicy.MayContain(t, filter, key)
	if p.counts != nil {
		p.counts.add(p.level, may)
	}
	return may
}

// pebbleV1Logger keeps Pebble's messages out of the output, and Pebble from ending the program.
type pebbleV1Logger struct{ onFatal func(error) }

func (pebbleV1Logger) Infof(string, ...any)  {}
func (pebbleV1Logger) Errorf(string, ...any) {}

// Fatalf does not return, because Pebble relies on that; the caller of onFatal ends the program.
func (l pebbleV1Logger) Fatalf(format string, args ...any) {
	l.onFatal(fmt.Errorf(format, args...))
	select {}
}
