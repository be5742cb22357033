package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/hashicorp/raft"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
)

// A variant is a way to use filters.
type variant struct {
	name      string
	configure func(*pebble.Options) error
	has       hasAll
}

// hasAll is the type of pebblev2.HasMany.
type hasAll func(pebble.Reader, [][]byte) ([]bool, error)

var variants = []variant{
	{"no filters, db.Get", noFilters, each(get)},
	{"Pebble's own filters, db.Get", pebblesOwn, each(get)},
	{"Pebble's own filters, pebblev2.Has", pebblesOwn, each(pebblev2.Has)},
	{"ribbon filters, pebblev2.Has", ribbon, each(pebblev2.Has)},
	{"ribbon filters, pebblev2.HasMany", ribbon, pebblev2.HasMany},
	{"the same on node 1, by Rewrite", noFilters, pebblev2.HasMany},
}

// rewriting is the variant whose node 1 is started once more, as the variant before.
const rewriting = 5

func noFilters(*pebble.Options) error { return nil }

func pebblesOwn(o *pebble.Options) error {
	o.Levels[0].FilterPolicy = bloom.FilterPolicy(10) // the other levels inherit it
	return nil
}

func ribbon(o *pebble.Options) error {
	p, err := policy.NewRibbon(10)
	if err != nil {
		return err
	}
	return pebblev2.Configure(o, p)
}

func get(r pebble.Reader, key []byte) (bool, error) {
	_, closer, err := r.Get(key)
	if err == nil {
		return true, closer.Close()
	} else if err == pebble.ErrNotFound {
		return false, nil
	}
	return false, err
}

// each makes a lookup of many keys of one for a key.
func each(has func(pebble.Reader, []byte) (bool, error)) hasAll {
	return func(r pebble.Reader, keys [][]byte) (found []bool, err error) {
		for _, key := range keys {
			ok, err := has(r, key)
			if err != nil {
				return nil, err
			}
			found = append(found, ok)
		}
		return found, nil
	}
}

// A store is the state machine of a node: a Pebble database that takes each key once, with the
// first value proposed for it.
type store struct {
	variant
	dir  string
	opts *pebble.Options
	db   *pebble.DB

	reads    atomic.Int64  // of table data
	applied  atomic.Uint64 // the index of the last entry
	restored atomic.Int64  // how many snapshots, since the node was started
}

// open opens the database in s.dir.
func (s *store) open() (err error) {
	s.opts = &pebble.Options{
		// Two memtables take 8 MiB of it. The rest holds all filters, but not all data.
		CacheSize:    16 << 20,
		MemTableSize: 4 << 20,
		FS:           errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(s.count)),
		Logger:       quiet{pebble.DefaultLogger},
	}
	if err := s.configure(s.opts); err != nil { // the last step before Open
		return err
	}
	s.db, err = pebble.Open(s.dir, s.opts)
	return err
}

// count is called before each operation on a file.
func (s *store) count(op errorfs.Op) error {
	if op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst") {
		s.reads.Add(1)
	}
	return nil
}

// quiet is a logger for errors only.
type quiet struct{ pebble.Logger }

func (quiet) Infof(string, ...any) {}

const keySize, valueSize = 32, 192

// Apply puts those keys of an entry that are absent. An entry is a row of keys with their values.
// Of any other it puts nothing, as all nodes do, and returns an error: the log has it for good, and
// a node that ends here would end at each start.
func (s *store) Apply(entry *raft.Log) any {
	defer s.applied.Store(entry.Index)
	if n := len(entry.Data) % (keySize + valueSize); n != 0 {
		return fmt.Errorf("entry %d is not a row of keys with their values: %d bytes are left over",
			entry.Index, n)
	}
	records := slices.Collect(slices.Chunk(entry.Data, keySize+valueSize))
	if err := s.putIfAbsent(records); err != nil {
		panic(err) // a node that goes on without these keys would differ from the others
	}
	return nil
}

func (s *store) putIfAbsent(records [][]byte) error {
	var keys [][]byte
	for _, r := range records {
		keys = append(keys, r[:keySize])
	}
	found, err := s.has(s.db, keys)
	if err != nil {
		return err
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	for i, r := range slices.Backward(records) { // so that the first of equal keys is put last
		if !found[i] {
			if err := batch.Set(keys[i], r[keySize:], nil); err != nil {
				return err
			}
		}
	}
	return batch.Commit(pebble.NoSync) // each start begins with Raft's snapshot and log
}

// Snapshot makes a checkpoint: a directory with links to the tables.
func (s *store) Snapshot() (raft.FSMSnapshot, error) {
	c := checkpoint(s.dir + ".checkpoint")
	c.Release() // what a process left that was killed
	// Entries committed with NoSync may be in memory only.
	return c, s.db.Checkpoint(string(c), pebble.WithFlushedWAL())
}

type checkpoint string

// Persist writes the files to Raft's snapshot. The filters are in the tables.
func (c checkpoint) Persist(sink raft.SnapshotSink) error {
	w := tar.NewWriter(sink)
	if err := errors.Join(w.AddFS(os.DirFS(string(c))), w.Close()); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (c checkpoint) Release() { os.RemoveAll(string(c)) }

// Restore replaces the database by that of a snapshot. After an error there is none, and the next
// Apply ends the process.
func (s *store) Restore(snapshot io.ReadCloser) error {
	defer snapshot.Close()
	s.restored.Add(1)
	if err := errors.Join(s.db.Close(), os.RemoveAll(s.dir), os.Mkdir(s.dir, 0o700)); err != nil {
		return err
	}
	for r := tar.NewReader(snapshot); ; {
		header, err := r.Next()
		if err == io.EOF {
			return s.open()
		} else if err != nil {
			return err
		}
		file, err := os.Create(filepath.Join(s.dir, filepath.Base(header.Name)))
		if err != nil {
			return err
		}
		_, err = io.Copy(file, r)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
}

// What follows is called by the process that started the node.

// Wait returns when the entry with an index has been applied. It must not be in a snapshot that the
// node restores: Restore does not learn the index.
func (s *store) Wait(index uint64, _ *int) error {
	for s.applied.Load() < index {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// Compact brings all data to L6. It fails if tables lack the filters that Configure gives, or if
// those do not fit into the cache.
func (s *store) Compact(int, *int) error {
	last := bytes.Repeat([]byte{0xff}, keySize)
	if err := s.db.Compact(context.Background(), nil, last, false); err != nil {
		return err
	}
	report, err := pebblev2.Check(s.opts, s.db)
	configured := s.opts.Levels[0].FilterPolicy != nil &&
		s.opts.Levels[0].FilterPolicy.Name() == policy.NameLevelDB
	if err == nil && configured && len(report.Warnings) > 0 {
		err = errors.New(report.String())
	}
	return err
}

// Rewrite gives filters to tables of a snapshot from a node without. This one may take entries and
// answer meanwhile, but not restore another snapshot.
func (s *store) Rewrite(int, *int) error {
	return pebblev2.Rewrite(context.Background(), s.opts, s.db, nil)
}

// Find counts the keys that are there.
func (s *store) Find(keys [][]byte, n *int) error {
	found, err := s.has(s.db, keys)
	for _, ok := range found {
		if ok {
			*n++
		}
	}
	return err
}

// Reads returns how often the node has read table data, since it was started.
func (s *store) Reads(_ int, n *int64) error {
	*n = s.reads.Load()
	return nil
}

// Restored returns how many snapshots the node has restored, since it was started.
func (s *store) Restored(_ int, n *int64) error {
	*n = s.restored.Load()
	return nil
}

// Digest returns a hash of all keys and values. It reads them without filters.
func (s *store) Digest(_ int, digest *string) error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	h := sha256.New()
	for it.First(); it.Valid(); it.Next() {
		h.Write(it.Key())
		h.Write(it.Value())
	}
	*digest = fmt.Sprintf("%x", h.Sum(nil)[:8])
	return it.Close()
}
