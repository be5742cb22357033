package engine

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

func openGoLevelDB(c Config) (DB, error) {
	p, err := c.Policy()
	if err != nil {
		return nil, err
	}
	o := &opt.Options{
		WriteBuffer:                   c.memTable(),
		CompactionL0Trigger:           l0Compaction,
		CompactionTableSize:           c.table(),
		CompactionTotalSize:           c.baseLevel(),
		CompactionTotalSizeMultiplier: levelFactor,
		DisableSeeksCompaction:        true,
		BlockCacheCapacity:            c.Cache,
	}
	if p != nil {
		if err := goleveldb.Configure(o, p); err != nil {
			return nil, err
		}
	} else if c.Filter == BuiltIn {
		o.Filter = filter.NewBloomFilter(c.Bits)
	}
	files, err := storage.OpenFile(c.Dir, false)
	if err != nil {
		return nil, err
	}
	db, err := leveldb.Open(&slowStorage{files, c.Disk}, o)
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
func (db *goLevelDB) Settle(ctx context.Context) error {
	transaction, err := db.OpenTransaction()
	if err != nil {
		return err
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
				// A compaction of nothing waits for the one that runs, and returns its error.
				nothing := util.Range{Start: afterAllKeys, Limit: afterAllKeys}
				return false, db.CompactRange(nothing)
			}
		}
		return true, nil
	})
}

var afterAllKeys = bytes.Repeat([]byte{0xff}, 64)

// Tables reads the filters and indexes from the files: goleveldb does not report their sizes.
func (db *goLevelDB) Tables() (sum Tables, err error) {
	paths, err := filepath.Glob(filepath.Join(db.dir, "*.ldb"))
	if err != nil {
		return sum, err
	}
	for _, path := range paths {
		if err := sum.read(path); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// read adds a table in LevelDB's format.
func (t *Tables) read(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	table, err := sstable.OpenTable(bytes.NewReader(data), int64(len(data)),
		sstable.WithFileName(path))
	if err != nil {
		return err
	}
	for _, entry := range table.Filters() {
		filter, err := table.OpenFilter(entry, policy.MayContain)
		if err != nil {
			return err
		}
		t.FilterBytes += int64(entry.Handle.Length)
		for i := range filter.Windows().NumFilters() {
			if len(filter.Windows().Filter(i)) > 0 {
				t.Filters++
			}
		}
		for _, err := range table.Entries() {
			if err != nil {
				return err
			}
			t.Keys++
		}
	}
	return nil
}
