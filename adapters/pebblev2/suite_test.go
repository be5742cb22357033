package pebblev2_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	engine "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/levelbloom/levelbloom/adapters/internal/enginetest"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// A database changes its filters, adopts and leaves the engine's own, is rewritten in use, and
// loses no key. Check says what it lacks.
func TestSuite(t *testing.T) { enginetest.Run(t, newSuiteEngine) }

// Neither concurrent use nor a kill loses a key while filters change.
func TestSoak(t *testing.T) {
	enginetest.Soak(t, 2, func(_ testing.TB, dir string) enginetest.Engine {
		return suiteEngine{vfs.Default, dir}
	})
}

func newSuiteEngine(testing.TB) enginetest.Engine { return suiteEngine{fs: vfs.NewMem()} }

// suiteEngine is the database in a directory.
type suiteEngine struct {
	fs  vfs.FS
	dir string // "" for the working directory
}

// Variants returns a variant for each format and comparer.
func (suiteEngine) Variants() (all []enginetest.Variant) {
	for _, format := range formats {
		for _, comparer := range comparers {
			all = append(all, enginetest.Variant{
				Name:   fmt.Sprintf("%s, %s", format, comparer.Name),
				Prefix: func(key []byte) []byte { return key[:comparer.Split(key)] },
				Stays:  !rewrites(format),
			})
		}
	}
	return all
}

func (suiteEngine) Builtin() string { return engineName }

func (e suiteEngine) Open(s enginetest.Setting) (enginetest.DB, error) {
	o := small(formats[s.Variant/len(comparers)])
	var reads atomic.Int64
	o.FS = reading(e.fs, func(fileRead) error { reads.Add(1); return nil })
	o.Comparer = comparers[s.Variant%len(comparers)]
	o.MemTableSize, o.MaxOpenFiles = 64<<10, cmp.Or(s.Files, 50)
	if s.Cache > 0 {
		o.Cache = pebble.NewCache(s.Cache)
		defer o.Cache.Unref() // the database refers to it too
	}
	if s.Copied {
		indexBlocks(o, 0, 256<<10)
	}
	if s.Behind > 0 { // Pebble makes the first memtables smaller than larger ones
		o.MemTableSize, o.MemTableStopWritesThreshold = 256<<10, s.Behind
	}
	if s.Large {
		o.MemTableSize, o.LBaseMaxBytes = 1<<20, 96<<10
		flat(o, 1<<20)
	}
	o.DisableAutomaticCompactions, o.L0StopWritesThreshold = s.Still, 1000
	if s.Builtin {
		builtin(o)
	}
	for _, p := range s.Policies {
		if err := pebblev2.Configure(o, p); err != nil {
			return nil, err
		}
	}
	if s.Watch != nil {
		for name, f := range o.Filters {
			o.Filters[name] = watched{f, s.Watch}
		}
	}
	var flushing sync.Mutex
	o.EventListener = &pebble.EventListener{TableCreated: func(pebble.TableCreateInfo) {
		flushing.Lock()
		defer flushing.Unlock()
	}}
	wait := loaded(o)
	db, err := pebble.Open(e.fs.PathJoin(e.dir, "db"), o)
	if err != nil {
		return nil, err
	}
	wait()
	refused := len(s.Policies) == 0 || !rewrites(o.FormatMajorVersion)
	return &suiteDB{pebbleReader{db}, e, db, o, o.Clone(), refused, atomic.Int64{}, &reads,
		&flushing}, nil
}

// builtin gives all levels the engine's own filter.
func builtin(o *pebble.Options) {
	o.Levels[0].FilterPolicy = engine.FilterPolicy(10)
	o.Filters = map[string]pebble.FilterPolicy{engineName: engine.FilterPolicy(10)}
}

// watched notes what a policy answers.
type watched struct {
	pebble.FilterPolicy
	watch *enginetest.Watch
}

func (w watched) MayContain(ftype pebble.FilterType, filter, key []byte) bool {
	return w.watch.Note(w.Name(), filter, w.FilterPolicy.MayContain(ftype, filter, key))
}

type suiteDB struct {
	pebbleReader
	engine  suiteEngine
	db      *pebble.DB
	options *pebble.Options // what the database was opened with, which Reconfigure changes
	copied  *pebble.Options // which it does not, for Rewrite and tables written for ingestion
	refused bool            // by Rewrite, if there are old tables
	tables  atomic.Int64    // written for ingestion so far
	reads   *atomic.Int64
	flushes *sync.Mutex // no table is written while it is locked
}

func (*suiteDB) Ways() int { return 2 }

// Apply commits a batch, or ingests a table.
func (d *suiteDB) Apply(way int, changes []enginetest.Change) error {
	if way == 1 {
		path, err := d.writeTable(changes)
		if err != nil {
			return err
		}
		return ingest(d.db, path)
	}
	batch := d.db.NewBatch()
	for _, c := range changes {
		var err error
		if c.Value == nil {
			err = batch.Delete(c.Key, nil)
		} else {
			err = batch.Set(c.Key, c.Value, nil)
		}
		if err != nil {
			return err
		}
	}
	return batch.Commit(pebble.Sync)
}

// writeTable writes a table to be ingested.
func (d *suiteDB) writeTable(changes []enginetest.Change) (path string, err error) {
	path = d.engine.fs.PathJoin(d.engine.dir, fmt.Sprintf("table-%d", d.tables.Add(1)))
	return path, writeTableFor(d.db, d.copied, path, changes)
}

// Excise replaces what a key has by a deletion, and the tables around it by virtual ones, of which
// Pebble may hide the filters.
func (d *suiteDB) Excise(key []byte) (hides bool, err error) {
	path, err := d.writeTable([]enginetest.Change{{Key: key}})
	if err != nil {
		return false, err
	}
	return hidden > 0, ingestAndExcise(d.db, path, key, append(bytes.Clone(key), 0))
}

// FallBehind fills all memtables that there may be, and holds flushes until catchUp is called.
func (d *suiteDB) FallBehind() (catchUp func(), err error) {
	d.flushes.Lock()
	random := make([]byte, d.options.MemTableSize/8)
	most := int64(d.options.MemTableStopWritesThreshold)
	for d.db.Metrics().MemTable.Count < most && err == nil {
		err = d.db.Set(bytes.Repeat([]byte{0xff}, 50), random, pebble.NoSync)
	}
	return d.flushes.Unlock, err
}

func (d *suiteDB) DeleteRange(start, end []byte) error {
	return d.db.DeleteRange(start, end, pebble.Sync)
}

func (d *suiteDB) Snapshot() (enginetest.Snapshot, error) {
	snapshot := d.db.NewSnapshot()
	return struct {
		pebbleReader
		io.Closer
	}{pebbleReader{snapshot}, snapshot}, nil
}

func (d *suiteDB) Flush() error { return d.db.Flush() }

func (d *suiteDB) Compact() error { return compactAll(d.db) }

func (d *suiteDB) Tables() (counts []int, err error) {
	levels, err := d.db.SSTables()
	for _, tables := range levels {
		counts = append(counts, len(tables))
	}
	return counts, err
}

func (d *suiteDB) Rewrite(ctx context.Context) error {
	parts := 0
	err := pebblev2.Rewrite(ctx, d.copied, d.db, func(_, _ int64) { parts++ })
	if !d.refused {
		return err
	} else if parts > 0 {
		return errors.New("Rewrite does not refuse the database")
	}
	return nil
}

func (d *suiteDB) Reconfigure(p *policy.Policy) error {
	return pebblev2.Configure(d.options, p)
}

// Checks counts what Pebble calls hits, which are absent keys, and misses.
func (d *suiteDB) Checks() (checked, absent int64) {
	m := d.db.Metrics().Filter
	return m.Hits + m.Misses, m.Hits
}

func (d *suiteDB) Check() (enginetest.Report, error) {
	r, err := pebblev2.Check(d.options, d.db)
	return enginetest.Report{Text: r.String(), Fits: len(r.Warnings) == 0,
		Required: int64(r.Required)}, err
}

func (d *suiteDB) Look(key []byte) error {
	_, err := pebblev2.Has(d.db, key)
	return err
}

func (d *suiteDB) Reads() int64 { return d.reads.Load() }

func (d *suiteDB) Close() error { return d.db.Close() }

type pebbleReader struct{ r pebble.Reader }

func (r pebbleReader) Get(key []byte) ([]byte, error) { return readValue(r.r.Get(key)) }

func (r pebbleReader) Find(key []byte) ([]byte, error) {
	value, err := readValue(pebblev2.Get(r.r, key))
	if err != nil {
		return nil, err
	}
	for name, look := range lookUps {
		found, err := look(r.r, key)
		if err != nil {
			return nil, err
		}
		if found != (value != nil) && (value != nil || name != "MayContain") {
			return nil, fmt.Errorf("key %x: Get finds %x, %s returns %v", key, value, name, found)
		}
	}
	return value, nil
}

// readValue returns a copy of what a Get returned, or nil if that found nothing.
func readValue(value []byte, closer io.Closer, err error) ([]byte, error) {
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, value...), closer.Close()
}

func (r pebbleReader) Seek(key []byte) ([]enginetest.Entry, error) {
	iter, err := r.r.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, err
	}
	return rest(iter, iter.SeekPrefixGE(bytes.Clone(key)))
}

func (r pebbleReader) Scan(start, end []byte) ([]enginetest.Entry, error) {
	iter, err := r.r.NewIter(&pebble.IterOptions{LowerBound: start, UpperBound: end})
	if err != nil {
		return nil, err
	}
	return rest(iter, iter.First())
}

// rest returns the entries from where iter is, and closes it.
func rest(iter *pebble.Iterator, valid bool) (entries []enginetest.Entry, err error) {
	for ; valid; valid = iter.Next() {
		entries = append(entries,
			enginetest.Entry{Key: string(iter.Key()), Value: string(iter.Value())})
	}
	return entries, iter.Close()
}
