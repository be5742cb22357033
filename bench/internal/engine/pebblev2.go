package engine

import (
	"context"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
)

func openPebbleV2(c Config) (DB, error) {
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(c.Scale.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(c.Scale.BaseLevel),
		Logger:                pebbleLogger{c.OnFatal},
		FS:                    vfs.OnDiskFull(vfs.Default, c.diskFull),
		EventListener:         &pebble.EventListener{BackgroundError: c.OnFatal},
		ReadOnly:              c.Counting,
		CacheSize:             int64(c.Cache + pebbleV2MemTables),
	}
	if c.Disk != nil {
		o.FS = errorfs.Wrap(o.FS, errorfs.InjectorFunc(func(op errorfs.Op) error {
			return c.Disk.readOf(op.Path, op.Kind == errorfs.OpFileReadAt)
		}))
	}
	o.Experimental.LevelMultiplier = c.Scale.Factor
	o.Experimental.ReadSamplingMultiplier = -1 // reading must not start compactions
	// The default heuristic would leave the levels above L6 nearly empty.
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{}
	p, err := c.policy()
	if err != nil {
		return nil, err
	}
	if p != nil {
		var options []pebblev2.Option
		if c.Filter == RibbonL6 {
			options = append(options, pebblev2.WithL6(p))
		}
		if err := pebblev2.Configure(o, p, options...); err != nil {
			return nil, err
		}
	}
	for i := range o.Levels {
		o.TargetFileSizes[i] = int64(c.Scale.Table)
		l := &o.Levels[i]
		if c.Filter == BuiltIn && i < bottom {
			l.FilterPolicy = bloom.FilterPolicy(WholeBits(c.Bits))
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
	get := db.Get
	if c.Filter == RibbonL6 {
		get = func(key []byte) ([]byte, io.Closer, error) { return pebblev2.Get(db, key) }
	}
	return &pebbleDB[*pebble.WriteOptions]{
		pebbleVersion: db, noSync: pebble.NoSync, notFound: pebble.ErrNotFound, get: get,
		compact: func(ctx context.Context, first, last []byte) error {
			return db.Compact(ctx, first, last, true)
		},
		running: func() int64 {
			m := db.Metrics()
			return m.Flush.NumInProgress + m.Compact.NumInProgress
		},
		tables: func() (sum Tables, err error) {
			levels, err := db.SSTables(pebble.WithProperties())
			for _, t := range slices.Concat(levels...) {
				sum.addTable(t.Properties.FilterSize, t.Properties.NumEntries)
			}
			return sum, err
		},
		filter: func() (avoided, other int64) {
			f := db.Metrics().Filter
			return f.Hits, f.Misses
		},
	}, nil
}
