package engine

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

func openPebbleV2(c Config) (DB, error) {
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(c.Scale.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(c.Scale.BaseLevel),
		Logger:                pebbleV2Logger{c.OnFatal},
		FS: vfs.OnDiskFull(vfs.Default, func() {
			c.OnFatal(fmt.Errorf("%s: %w", c.Dir, syscall.ENOSPC))
			select {} // Pebble panics once it learns of it; the caller of OnFatal ends the program
		}),
		EventListener: &pebble.EventListener{BackgroundError: c.OnFatal},
		ReadOnly:      c.Counts != nil,
		CacheSize:     int64(c.Cache),
	}
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = int64(c.Scale.Table)
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
		if err := pebblev2.ConfigureLevels(o, levels); err != nil {
			return nil, err
		}
	case c.Filter == BuiltIn:
		for level := range o.Levels {
			o.Levels[level].FilterPolicy = bloom.FilterPolicy(WholeBits(c.Bits))
		}
		o.Levels[NumLevels-1].FilterPolicy = pebble.NoFilterPolicy // nil would inherit
	}
	for i, l := range o.Levels {
		if l.FilterPolicy != nil && l.FilterPolicy != pebble.NoFilterPolicy {
			o.Levels[i].FilterPolicy = &pebbleV2Filter{l.FilterPolicy, i, c.Counts}
		}
	}
	o.Filters = nil // Open fills it from the levels
	db, err := pebble.Open(c.Dir, o)
	if err != nil {
		return nil, err
	}
	return &pebbleV2{db}, nil
}

type pebbleV2 struct{ *pebble.DB }

func (db *pebbleV2) Put(key, value []byte) error { return db.DB.Set(key, value, pebble.NoSync) }

func (db *pebbleV2) Get(key []byte) (bool, error) {
	_, closer, err := db.DB.Get(key)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	return true, closer.Close()
}

func (db *pebbleV2) Settle(ctx context.Context) (idleSince time.Time, err error) {
	if err := db.Flush(); err != nil {
		return time.Time{}, err
	}
	return settle(ctx, func() (bool, error) {
		m := db.Metrics()
		return m.Flush.NumInProgress == 0 && m.Compact.NumInProgress == 0, nil
	})
}

func (db *pebbleV2) Tables() (levels []Level, err error) {
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

func (db *pebbleV2) Checks() (checks, avoided int64, ok bool) {
	f := db.Metrics().Filter // Pebble's "hits" are the reads avoided
	return f.Hits + f.Misses, f.Hits, true
}

// pebbleV2Filter gives the filters of a level a name of their own, because Pebble chooses the
// reader of a filter by its name, and counts what they are asked.
type pebbleV2Filter struct {
	pebble.FilterPolicy
	level  int
	counts *Counts // may be nil
}

func (p *pebbleV2Filter) Name() string {
	return fmt.Sprintf("%s.L%d", p.FilterPolicy.Name(), p.level)
}

func (p *pebbleV2Filter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	may := p.FilterPolicy.MayContain(t, filter, key)
	if p.counts != nil {
		p.counts.add(p.level, may)
	}
	return may
}

// pebbleV2Logger keeps Pebble's messages out of the output, and Pebble from ending the program.
type pebbleV2Logger struct{ onFatal func(error) }

func (pebbleV2Logger) Infof(string, ...any)  {}
func (pebbleV2Logger) Errorf(string, ...any) {}

// Fatalf does not return, because Pebble relies on that; the caller of onFatal ends the program.
func (l pebbleV2Logger) Fatalf(format string, args ...any) {
	l.onFatal(fmt.Errorf(format, args...))
	select {}
}
