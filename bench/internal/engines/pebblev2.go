package engines

import (
	"context"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/policy"
)

func openPebbleV2(d database) (_ DB, err error) {
	statsLoaded := make(chan struct{})
	o := &pebble.Options{
		FormatMajorVersion:    pebble.FormatNewest,
		MemTableSize:          uint64(d.memTable()),
		L0CompactionThreshold: 2 * l0Compaction, // Pebble compacts at half of it
		LBaseMaxBytes:         int64(d.baseLevel()),
		Logger:                pebbleLogger{d},
		FS:                    vfs.OnDiskFull(vfs.Default, d.diskFull),
		CacheSize:             int64(d.cache + pebbleV2MemTables),
	}
	o.EventListener = &pebble.EventListener{BackgroundError: d.fail,
		TableStatsLoaded: func(pebble.TableStatsInfo) { close(statsLoaded) }}
	o.FS = errorfs.Wrap(o.FS, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst") {
			d.reads.Add(1)
		}
		return nil
	}))
	o.Experimental.LevelMultiplier = levelFactor
	o.Experimental.ReadSamplingMultiplier = -1 // reading must not start compactions
	// The default heuristic would leave the levels above L6 nearly empty.
	o.Experimental.MultiLevelCompactionHeuristic = pebble.NoMultiLevel{}
	kind, inL6 := strings.CutSuffix(d.filter, L6)
	if d.policy != nil && inL6 {
		err = pebblev2.Configure(o, d.policy)
	} else if d.policy != nil {
		err = pebblev2.Configure(o, d.policy, pebblev2.WithLevel(bottom, &policy.Policy{}))
	}
	if err != nil {
		return nil, err
	}
	for i := range o.Levels {
		o.TargetFileSizes[i] = int64(d.table())
		l := &o.Levels[i]
		if kind == BuiltIn && (i < bottom || inL6) {
			l.FilterPolicy = bloom.FilterPolicy(filters.Bits)
		}
		if l.FilterPolicy == nil {
			l.FilterPolicy = pebble.NoFilterPolicy // nil would inherit
		}
	}
	o.Filters = nil // Open fills it from the levels
	db, err := pebble.Open(d.dir, o)
	if err != nil {
		return nil, err
	}
	<-statsLoaded // in the background, Pebble reads a little of each table that it finds
	get := db.Get
	if inL6 {
		get = func(key []byte) ([]byte, io.Closer, error) { return pebblev2.Get(db, key) }
	}
	return &pebbleV2{db, get}, nil
}

type pebbleV2 struct {
	*pebble.DB
	get func(key []byte) ([]byte, io.Closer, error)
}

func (db *pebbleV2) Put(key, value []byte) error { return db.Set(key, value, pebble.NoSync) }

func (db *pebbleV2) Get(key []byte) (bool, error) {
	_, closer, err := db.get(key)
	switch err {
	case nil:
		return true, closer.Close()
	case pebble.ErrNotFound:
		return false, nil
	}
	return false, err
}

func (db *pebbleV2) Settle(ctx context.Context) error { return SettlePebbleV2(ctx, db.DB) }

// SettlePebbleV2 flushes, and waits for the compactions.
func SettlePebbleV2(ctx context.Context, db *pebble.DB) error {
	if err := db.Flush(); err != nil {
		return err
	}
	return settle(ctx, func() (bool, error) {
		m := db.Metrics()
		return m.Flush.NumInProgress+m.Compact.NumInProgress == 0, nil
	})
}
