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
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
)

type goLevelDB struct{}

func (goLevelDB) Name() string   { return "goleveldb" }
func (goLevelDB) Module() string { return "github.com/syndtr/goleveldb" }

func (goLevelDB) Reads() []Read { return []Read{Get} }

func (goLevelDB) Bits(c Config) []float64 { return []float64{c.Bits} }

func (goLevelDB) Open(c Config) (DB, error) {
	o := &opt.Options{
		WriteBuffer:                   c.Scale.memTable(),
		CompactionL0Trigger:           l0Compaction,
		CompactionTableSize:           c.Scale.Table,
		CompactionTotalSize:           c.Scale.BaseLevel,
		CompactionTotalSizeMultiplier: float64(c.Scale.Factor),
		DisableSeeksCompaction:        true, // reading must not set off compactions
		BlockCacheCapacity:            c.Cache,
		FilterBaseLg:                  c.BaseLg,
		ReadOnly:                      c.Counts != nil,
	}
	switch c.Filter {
	case BuiltIn:
		o.Filter = filter.NewBloomFilter(WholeBits(c.Bits))
	case LevelBloom, Blocked, Fuse:
		p, err := policies[c.Filter](c.Bits)
		if err != nil {
			return nil, err
		}
		if err := goleveldb.Configure(o, p); err != nil {
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

func (db *goLevelDBDB) Reader(Read) (Reader, error) { return getter(db.get), nil }

func (db *goLevelDBDB) get(key []byte) (bool, error) {
	_, err := db.DB.Get(key, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Settle flushes by opening a transaction, the one call of goleveldb that flushes and does nothing else. It knows when
// goleveldb compacts (version.computeCompaction), because goleveldb does not say whether it does.
func (db *goLevelDBDB) Settle(ctx context.Context) (idleSince time.Time, err error) {
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
	if err := db.DB.Stats(&s); err != nil {
		return Tables{}, err
	}
	paths, err := filepath.Glob(filepath.Join(db.dir, "*.ldb"))
	if err != nil {
		return Tables{}, err
	}
	var t Tables
	var sum, squares float64 // of the filters' bytes
	for _, path := range paths {
		f, err := readTableFilters(path)
		if err != nil {
			return Tables{}, err
		}
		t.FilteredKeys += f.keys
		t.FilterBytes += f.blockBytes
		for _, n := range f.filters {
			t.Filters++
			sum += float64(n)
			squares += float64(n) * float64(n)
		}
	}
	whole := s.LevelSizes.Sum()
	for i, tables := range s.LevelTablesCounts {
		l := Level{Tables: int64(tables), Bytes: s.LevelSizes[i]}
		if whole > 0 { // the files do not say their level, but every table has as many filter bytes per key
			l.FilterBytes = int64(float64(t.FilterBytes) * float64(l.Bytes) / float64(whole))
		}
		t.Levels = append(t.Levels, l)
	}
	if sum > 0 { // a filter's bytes are in proportion to its keys
		t.KeysPerFilter = squares / sum * float64(t.FilteredKeys) / sum
	}
	return t, nil
}

// Stats: goleveldb counts none of this.
func (db *goLevelDBDB) Stats() Stats { return Stats{} }

// goLevelDBCounter counts what a filter is asked.
type goLevelDBCounter struct {
	filter.Filter
	counts *Counts
}

func (f *goLevelDBCounter) Contains(filter, key []byte) bool {
	return f.counts.add(filter, f.Filter.Contains(filter, key))
}
