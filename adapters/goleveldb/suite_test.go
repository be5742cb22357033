package goleveldb_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/policy"
)

// A database changes its filters, adopts and leaves the engine's own, is rewritten in use, and
// loses no key. Check says what it lacks.
func TestSuite(t *testing.T) { enginetest.Run(t, newSuiteEngine) }

// Neither concurrent use nor a kill loses a key while filters change. Transactions, which goleveldb
// itself loses keys with (.github/TESTING.md), are left out. Flush uses one, but commits nothing.
func TestSoak(t *testing.T) {
	const batches = 1
	enginetest.Soak(t, batches, func(t testing.TB, dir string) enginetest.Engine {
		files, err := storage.OpenFile(dir, false)
		require.NoError(t, err)
		t.Cleanup(func() { files.Close() })
		return suiteEngine{t, files}
	})
}

func newSuiteEngine(t testing.TB) enginetest.Engine {
	stored := storage.NewMemStorage()
	t.Cleanup(func() { require.NoError(t, stored.Close()) })
	return suiteEngine{t, stored}
}

// suiteEngine is the database in one storage.
type suiteEngine struct {
	t       testing.TB
	storage storage.Storage
}

// Variants returns two that differ in compression, and so in the windows of blocks.
func (suiteEngine) Variants() []enginetest.Variant {
	whole := func(key []byte) []byte { return key }
	return []enginetest.Variant{
		{Name: "snappy", Prefix: whole},
		{Name: "no compression", Prefix: whole},
	}
}

func (suiteEngine) Builtin() string { return filter.NewBloomFilter(10).Name() }

func (e suiteEngine) Open(s enginetest.Setting) (enginetest.DB, error) {
	o := smallTables()
	if s.Still {
		o = level0Only()
	}
	o.BlockCacheEvictRemoved = true // against a fault of removed tables: .github/TESTING.md
	o.Compression = []opt.Compression{opt.SnappyCompression, opt.NoCompression}[s.Variant]
	if s.Large {
		o.CompactionTableSize, o.FilterBaseLg = 64<<10, 21
	}
	if s.Builtin {
		o.Filter = filter.NewBloomFilter(10)
	}
	o.BlockCacheCapacity, o.OpenFilesCacheCapacity = int(s.Cache), s.Files
	for _, p := range s.Policies {
		if err := goleveldb.Configure(o, p); err != nil {
			return nil, err
		}
	}
	copied := *o
	if s.Watch != nil {
		watch(o, s.Watch)
	}
	var needed int64
	if s.Files > 0 {
		needed = 2 * int64(blockSizes(e.t, e.storage))
	}
	db, err := leveldb.Open(e.storage, o)
	if err != nil {
		return nil, err
	}
	return &suiteDB{goleveldbReader{db}, needed, db, o, &copied, len(s.Policies) == 0}, nil
}

// watched notes what a filter answers.
type watched struct {
	filter.Filter
	watch *enginetest.Watch
}

func (w watched) Contains(filter, key []byte) bool {
	return w.watch.Note(w.Name(), filter, w.Filter.Contains(filter, key))
}

type suiteDB struct {
	goleveldbReader
	needed  int64 // of the block cache, as filterdump says of the tables that Open found
	db      *leveldb.DB
	options *opt.Options // what the database was opened with, which Reconfigure changes
	copied  *opt.Options // which it does not, and no watch, for Rewrite
	refused bool         // by Rewrite
}

func (*suiteDB) Ways() int { return 2 }

// Apply writes a batch or commits a transaction. It discards none: after that goleveldb sometimes
// answers wrong, whatever the filter (see .github/TESTING.md).
func (d *suiteDB) Apply(way int, changes []enginetest.Change) error {
	batch := new(leveldb.Batch)
	for _, c := range changes {
		if c.Value == nil {
			batch.Delete(c.Key)
		} else {
			batch.Put(c.Key, c.Value)
		}
	}
	if way == 0 {
		return d.db.Write(batch, nil)
	}
	tr, err := d.db.OpenTransaction()
	if err != nil {
		return err
	}
	if err := tr.Write(batch, nil); err != nil {
		return err
	}
	for _, c := range changes { // a transaction reads what it has written
		if has, err := tr.Has(c.Key, nil); err != nil || has != (c.Value != nil) {
			return errors.Join(errors.New("a transaction reads something else"), err)
		}
	}
	return tr.Commit()
}

// DeleteRange deletes key by key: goleveldb has nothing else.
func (d *suiteDB) DeleteRange(start, end []byte) error {
	found, err := d.Scan(start, end)
	batch := new(leveldb.Batch)
	for _, e := range found {
		batch.Delete([]byte(e.Key))
	}
	return errors.Join(err, d.db.Write(batch, nil))
}

func (d *suiteDB) Snapshot() (enginetest.Snapshot, error) {
	snapshot, err := d.db.GetSnapshot()
	return suiteSnapshot{goleveldbReader{snapshot}, snapshot}, err
}

type suiteSnapshot struct {
	goleveldbReader
	snapshot *leveldb.Snapshot
}

func (s suiteSnapshot) Close() error {
	s.snapshot.Release()
	return nil
}

// Flush opens a transaction, which needs all in memory to be in tables, and commits it empty.
func (d *suiteDB) Flush() error {
	tr, err := d.db.OpenTransaction()
	if err != nil {
		return err
	}
	return tr.Commit()
}

func (d *suiteDB) Compact() error { return d.db.CompactRange(util.Range{}) }

func (d *suiteDB) Tables() ([]int, error) {
	var stats leveldb.DBStats
	err := d.db.Stats(&stats)
	return stats.LevelTablesCounts, err
}

func (d *suiteDB) Rewrite(ctx context.Context) error {
	const snapshots = "leveldb.alivesnaps" // how many are not released
	before, _ := d.db.GetProperty(snapshots)
	err := goleveldb.Rewrite(ctx, d.copied, d.db, nil)
	if after, _ := d.db.GetProperty(snapshots); after != before {
		return errors.New("Rewrite leaves a snapshot open")
	}
	if !d.refused {
		return err
	} else if err == nil {
		return errors.New("Rewrite does not refuse the database")
	}
	return nil
}

func (d *suiteDB) Reconfigure(p *policy.Policy) error { return goleveldb.Configure(d.options, p) }

func (*suiteDB) Checks() (checked, absent int64) { return -1, -1 }

func (d *suiteDB) Check() (enginetest.Report, error) {
	r, err := goleveldb.Check(d.options, d.db)
	return enginetest.Report{Text: r.String(), Blind: true, Fits: len(r.Warnings) == 0,
		Required: d.needed}, err
}

func (d *suiteDB) Look(key []byte) error {
	_, err := d.Get(key)
	return err
}

// Reads returns the bytes that were read in blocks, which are larger, if anything.
func (d *suiteDB) Reads() int64 {
	var stats leveldb.DBStats
	_ = d.db.Stats(&stats)
	return int64(stats.IORead) / int64(d.options.GetBlockSize())
}

func (d *suiteDB) Close() error { return d.db.Close() }

// goleveldbReader reads a database or a snapshot.
type goleveldbReader struct {
	r interface {
		Get(key []byte, ro *opt.ReadOptions) ([]byte, error)
		NewIterator(slice *util.Range, ro *opt.ReadOptions) iterator.Iterator
	}
}

func (r goleveldbReader) Get(key []byte) ([]byte, error) {
	value, err := r.r.Get(key, nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return nil, nil
	}
	return append([]byte{}, value...), err
}

func (r goleveldbReader) Find(key []byte) ([]byte, error) { return r.Get(key) }

// Seek is Get: goleveldb's iterators consult no filter.
func (r goleveldbReader) Seek(key []byte) ([]enginetest.Entry, error) {
	value, err := r.Get(key)
	if value == nil || err != nil {
		return nil, err
	}
	return []enginetest.Entry{{Key: string(key), Value: string(value)}}, nil
}

func (r goleveldbReader) Scan(start, end []byte) (entries []enginetest.Entry, err error) {
	it := r.r.NewIterator(&util.Range{Start: start, Limit: end}, nil)
	defer it.Release()
	for it.Next() {
		entries = append(entries,
			enginetest.Entry{Key: string(it.Key()), Value: string(it.Value())})
	}
	return entries, it.Error()
}
