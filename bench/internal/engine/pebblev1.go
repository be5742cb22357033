package engine

import (
	"context"
	"io"
	"slices"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/bloom"
	"github.com/cockroachdb/pebble/vfs"
	"github.com/cockroachdb/pebble/vfs/errorfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev1"
	"github.com/levelbloom/levelbloom/policy"
)

func openPebbleV1(c Config, p policy.Policy) (DB, error) {
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(c.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(c.baseLevel()),
		Logger:                pebbleLogger{c.OnFatal},
		FS:                    vfs.OnDiskFull(vfs.Default, c.diskFull),
		EventListener:         &pebble.EventListener{BackgroundError: c.OnFatal},
		ReadOnly:              c.Counting,
		Levels:                make([]pebble.LevelOptions, bottom+1),
		Cache:                 pebble.NewCache(int64(c.Cache + pebbleV1MemTables)),
	}
	defer o.Cache.Unref() // the database keeps a reference of its own
	if c.Disk != nil {
		o.FS = errorfs.Wrap(o.FS, errorfs.InjectorFunc(func(op errorfs.Op, path string) error {
			return c.Disk.readOf(path, op == errorfs.OpFileReadAt)
		}))
	}
	o.Experimental.LevelMultiplier = levelFactor
	o.Experimental.ReadSamplingMultiplier = -1 // reading must not start compactions
	// The default heuristic would leave the levels above L6 nearly empty.
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{}
	var err error
	if c.Filter == RibbonL6 {
		err = pebblev1.Configure(o, p, pebblev1.WithL6(p))
	} else if p != nil {
		err = pebblev1.Configure(o, p)
	}
	if err != nil {
		return nil, err
	}
	for i := range o.Levels {
		l := &o.Levels[i]
		l.TargetFileSize = int64(c.table())
		if c.Filter == BuiltIn && i < bottom {
			l.FilterPolicy = bloom.FilterPolicy(c.Bits)
		}
	}
	o.Filters = nil // Open fills it from the levels
	db, err := pebble.Open(c.Dir, o)
	if err != nil {
		return nil, err
	}
	get := db.Get
	if c.Filter == RibbonL6 {
		get = func(key []byte) ([]byte, io.Closer, error) { return pebblev1.Get(db, key) }
	}
	return &pebbleDB[*pebble.WriteOptions]{
		pebbleVersion: db, noSync: pebble.NoSync, notFound: pebble.ErrNotFound, get: get,
		compact: func(_ context.Context, first, last []byte) error {
			return db.Compact(first, last, true)
		},
		metrics: func() (running, avoided, other int64) {
			m := db.Metrics()
			running = m.Flush.NumInProgress + m.Compact.NumInProgress
			return running, m.Filter.Hits, m.Filter.Misses
		},
		tables: func() (sum Tables, err error) {
			levels, err := db.SSTables(pebble.WithProperties())
			for _, t := range slices.Concat(levels...) {
				sum.addTable(t.Properties.FilterSize, t.Properties.NumEntries)
			}
			return sum, err
		},
	}, nil
}
