package engine

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
)

func openGoLevelDB(c Config) (DB, error) {
	o := &opt.Options{
		WriteBuffer:                   c.Scale.memTable(),
		CompactionL0Trigger:           l0Compaction,
		CompactionTableSize:           c.Scale.Table,
		CompactionTotalSize:           c.Scale.BaseLevel,
		CompactionTotalSizeMultiplier: float64(c.Scale.Factor),
		DisableSeeksCompaction:        true, // reading must not start compactions
		BlockCacheCapacity:            c.Cache,
		FilterBaseLg:                  c.BaseLg,
		ReadOnly:                      c.Counts != nil,
	}
	p, err := c.policy()
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		if err := goleveldb.Configure(o, p); err != nil {
			return nil, err
		}
	case c.Filter == BuiltIn:
		o.Filter = filter.NewBloomFilter(WholeBits(c.Bits))
	}
	if c.Counts != nil && o.Filter != nil {
		o.Filter = &goLevelDBCounter{o.Filter, c.Counts}
	}
	files, err := storage.OpenFile(c.Dir, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	s := files
	if c.Disk != nil {
		s = &slowStorage{files, c.Disk}
	}
	db, err := leveldb.Open(s, o)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return &goLevelDB{db, o, c.Dir, files}, nil
}

type goLevelDB struct {
	*leveldb.DB
	options *opt.Options
	dir     string
	files   storage.Storage
}

func (db *goLevelDB) Close() error { return errors.Join(db.DB.Close(), db.files.Close()) }

func (db *goLevelDB) Put(key, value []byte) error { return db.DB.Put(key, value, nil) }

func (db *goLevelDB) Get(key []byte) (bool, error) {
	_, err := db.DB.Get(key, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Settle flushes by opening a transaction, the one call of goleveldb that flushes and does nothing
// else. It computes when goleveldb compacts, as version.computeCompaction does, because goleveldb
// does not say whether it does.
func (db *goLevelDB) Settle(ctx context.Context) (idleSince time.Time, err error) {
	transaction, err := db.OpenTransaction()
	if err != nil {
		return time.Time{}, err
	}
	transaction.Discard()
	return settle(ctx, func() (bool, error) {
		var s leveldb.DBStats
		if err := db.DB.Stats(&s); err != nil {
			return false, err
		}
		for i, tables := range s.LevelTablesCounts {
			if i == 0 && tables >= db.options.GetCompactionL0Trigger() ||
				i > 0 && s.LevelSizes[i] >= db.options.GetCompactionTotalSize(i) {
				// A compaction of nothing queues behind the one that runs, and returns its error.
				nothing := util.Range{Start: afterAllKeys, Limit: afterAllKeys}
				return false, db.CompactRange(nothing)
			}
		}
		return true, nil
	})
}

// Compact leaves tables of the deepest level as they are.
func (db *goLevelDB) Compact(context.Context) error { return db.CompactRange(util.Range{}) }

var afterAllKeys = bytes.Repeat([]byte{0xff}, 64)

// Tables reads the filters from the files, which do not say their level: every level has the part
// of them that it has of the bytes, since all tables have about as many filter bytes per key.
func (db *goLevelDB) Tables() ([]Level, error) {
	var s leveldb.DBStats
	if err := db.DB.Stats(&s); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(db.dir, "*.ldb"))
	if err != nil {
		return nil, err
	}
	var all tableFilters
	for _, path := range paths {
		if err := all.read(path); err != nil {
			return nil, err
		}
	}
	var sum, squares float64 // of the filters' bytes, which are about in proportion to their keys
	for _, n := range all.filters {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	var levels []Level
	for i, tables := range s.LevelTablesCounts {
		part := float64(s.LevelSizes[i]) / float64(max(1, s.LevelSizes.Sum()))
		l := Level{
			Level: i, Tables: int64(tables), Bytes: s.LevelSizes[i],
			Filters:     int64(part*float64(len(all.filters)) + 0.5),
			FilterBytes: int64(part*float64(all.blockBytes) + 0.5),
			Keys:        int64(part*float64(all.keys) + 0.5),
		}
		if sum > 0 {
			l.KeysPerFilter = squares / sum * float64(all.keys) / sum
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// Checks: goleveldb counts none.
func (db *goLevelDB) Checks() (checks, avoided int64, ok bool) { return 0, 0, false }

// goLevelDBCounter counts what a filter is asked.
type goLevelDBCounter struct {
	filter.Filter
	counts *Counts
}

func (f *goLevelDBCounter) Contains(filter, key []byte) bool {
	return f.counts.add(0, f.Filter.Contains(filter, key))
}
