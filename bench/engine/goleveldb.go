package engine

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
)

type goLevelDB struct{}

func (goLevelDB) Name() string   { return "goleveldb" }
func (goLevelDB) Module() string { return "github.com/syndtr/goleveldb" }

func (goLevelDB) Open(c Config) (DB, error) {
	o := &opt.Options{
		WriteBuffer:                   c.Scale.memTable(),
		CompactionL0Trigger:           l0Compaction,
		CompactionTableSize:           c.Scale.Table,
		CompactionTotalSize:           c.Scale.BaseLevel,
		CompactionTotalSizeMultiplier: float64(c.Scale.Factor),
		DisableSeeksCompaction:        true, // reading must not set off compactions
		ReadOnly:                      c.Counts != nil,
	}
	switch c.Filter {
	case BuiltIn:
		o.Filter = filter.NewBloomFilter(c.Bits)
	case LevelBloom:
		if err := goleveldb.Configure(o, c.Policy); err != nil {
			return nil, err
		}
	}
	if c.Counts != nil && o.Filter != nil {
		o.Filter = &goLevelDBCounter{o.Filter, c.Counts}
	}
	db, err := leveldb.OpenFile(c.Dir, o)
	if err != nil {
		return nil, err
	}
	return &goLevelDBDB{db, o, c.Dir}, nil
}

type goLevelDBDB struct {
	*leveldb.DB
	options *opt.Options
	dir     string
}

func (db *goLevelDBDB) Put(key, value []byte) error { return db.DB.Put(key, value, nil) }

func (db *goLevelDBDB) Get(key []byte) (bool, error) {
	_, err := db.DB.Get(key, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Settle flushes by opening a transaction, the one call of goleveldb that flushes and does nothing else. It knows when
// goleveldb compacts (version.computeCompaction), because goleveldb does not say whether it does.
func (db *goLevelDBDB) Settle(ctx context.Context) error {
	transaction, err := db.OpenTransaction()
	if err != nil {
		return err
	}
	transaction.Discard()
	return settle(ctx, func() (bool, error) {
		var s leveldb.DBStats
		if err := db.Stats(&s); err != nil {
			return false, err
		}
		for i, tables := range s.LevelTablesCounts {
			if i == 0 && tables >= db.options.GetCompactionL0Trigger() ||
				i > 0 && s.LevelSizes[i] >= db.options.GetCompactionTotalSize(i) {
				// A compaction of nothing comes behind the one that runs, and brings back the error if that failed.
				return false, db.CompactRange(util.Range{Start: afterAllKeys, Limit: afterAllKeys})
			}
		}
		return true, nil
	})
}

var afterAllKeys = bytes.Repeat([]byte{0xff}, 64)

func (db *goLevelDBDB) Tables() (Tables, error) {
	var s leveldb.DBStats
	if err := db.Stats(&s); err != nil {
		return Tables{}, err
	}
	var t Tables
	for i, tables := range s.LevelTablesCounts {
		t.Levels = append(t.Levels, Level{int64(tables), s.LevelSizes[i]})
	}
	paths, err := filepath.Glob(filepath.Join(db.dir, "*.ldb"))
	if err != nil {
		return Tables{}, err
	}
	for _, path := range paths {
		if err := addLevelDBTable(&t, path); err != nil {
			return Tables{}, err
		}
	}
	return t, nil
}

// OwnCounts: goleveldb keeps none.
func (db *goLevelDBDB) OwnCounts() (checks, avoided int64, ok bool) { return 0, 0, false }

// goLevelDBCounter counts what a filter is asked.
type goLevelDBCounter struct {
	filter.Filter
	counts *Counts
}

func (f *goLevelDBCounter) Contains(filter, key []byte) bool {
	return f.counts.add(f.Filter.Contains(filter, key))
}
