package engines

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
)

func openGoLevelDB(d database) (DB, error) {
	o := &opt.Options{
		WriteBuffer:                   d.memTable(),
		CompactionL0Trigger:           l0Compaction,
		CompactionTableSize:           d.table(),
		CompactionTotalSize:           d.baseLevel(),
		CompactionTotalSizeMultiplier: levelFactor,
		DisableSeeksCompaction:        true,
		BlockCacheCapacity:            d.cache,
	}
	if d.policy != nil {
		o.FilterBaseLg = 16 // as README's program; the engine's own filters keep the default
		if err := goleveldb.Configure(o, d.policy); err != nil {
			return nil, err
		}
	} else if d.filter == BuiltIn {
		o.Filter = filter.NewBloomFilter(filters.Bits)
	}
	files, err := storage.OpenFile(d.dir, false)
	if err != nil {
		return nil, err
	}
	db, err := leveldb.Open(&countingStorage{files, d.reads}, o)
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	return &goLevelDB{db, o, files}, nil
}

type goLevelDB struct {
	*leveldb.DB
	options *opt.Options
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

func (db *goLevelDB) Settle(ctx context.Context) error {
	return SettleGoLevelDB(ctx, db.options, db.DB)
}

// SettleGoLevelDB flushes by opening a transaction, the one call of goleveldb that flushes and does
// nothing else. It computes when goleveldb compacts, as version.computeCompaction does, because
// goleveldb does not say whether it does.
func SettleGoLevelDB(ctx context.Context, o *opt.Options, db *leveldb.DB) error {
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
			if i == 0 && tables >= o.GetCompactionL0Trigger() ||
				i > 0 && s.LevelSizes[i] >= o.GetCompactionTotalSize(i) {
				// A compaction of nothing waits for the one that runs, and returns its error.
				nothing := util.Range{Start: afterAllKeys, Limit: afterAllKeys}
				return false, db.CompactRange(nothing)
			}
		}
		return true, nil
	})
}

var afterAllKeys = bytes.Repeat([]byte{0xff}, 64)

// countingStorage counts reads of tables.
type countingStorage struct {
	storage.Storage
	reads *atomic.Int64
}

func (s *countingStorage) Open(fd storage.FileDesc) (storage.Reader, error) {
	r, err := s.Storage.Open(fd)
	if err == nil && fd.Type == storage.TypeTable {
		r = &countingReader{r, s.reads}
	}
	return r, err
}

type countingReader struct {
	storage.Reader
	reads *atomic.Int64
}

func (r *countingReader) ReadAt(p []byte, offset int64) (int, error) {
	r.reads.Add(1)
	return r.Reader.ReadAt(p, offset)
}
