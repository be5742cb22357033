package goleveldb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// Rewrite gives new filters to the tables of db that were written with other options, while db is
// in use. o must be the options that db was opened with, after [Configure].
//
// Rewrite reads all keys, in parts of 48 MiB. goleveldb does not tell which filters a table has, so
// Rewrite looks some keys up and sees which filters db consults: in a part, all tables must have
// those of o's policy, or the part is rewritten. It does not notice another FilterBaseLg, fractions
// of a bit per key, or tables whose keys have all been overwritten or deleted.
//
// After each part, Rewrite calls progress, unless that is nil, with the MiB of tables that are done
// and of all. To go slower, sleep there. To stop, cancel ctx: Rewrite returns its error at the end
// of a part. What is done stays done, and the next call writes only what is left. Any other error
// says how much is left, and why.
//
// Compactions rewrite a table of the last level only if a table above overlaps it. Rewrite sees to
// that by deleting keys that nobody has, with 16 random bytes each. No answer changes, and
// compactions remove the deletions, once older snapshots are released. Whoever replicates db's
// writes sees them. A program that fills write buffers faster than goleveldb compacts keeps
// CompactRange, and so Rewrite, from ending. bench/RESULTS.md has the costs.
//
// Rewrite returns an error if o has a Comparer of its own, for which it cannot make up keys. Then
// write all entries to a new database that is opened with o.
func Rewrite(
	ctx context.Context, o *opt.Options, db *leveldb.DB, progress func(done, total int),
) error {
	if err := checkArguments(o, db); err != nil {
		return err
	}
	if name := o.GetComparer().Name(); name != comparer.DefaultComparer.Name() {
		return fmt.Errorf("goleveldb: Rewrite cannot make up keys for the comparer %q: write all "+
			"entries to a new database", name)
	}
	f, ok := o.Filter.(*policyFilter)
	if !ok {
		return errors.New("goleveldb: the options do not have the filter that Configure gives: pass " +
			"them to Configure before leveldb.OpenFile")
	}
	done, total, err := sizes(db, nil)
	for start := []byte(nil); err == nil && done < total; {
		if err = ctx.Err(); err == nil {
			start, err = rewritePart(o, f, db, start)
		}
		if err != nil {
			return fmt.Errorf("goleveldb: %d of %d MiB are left: %w", total-done, total, err)
		}
		if done, total, err = sizes(db, start); start == nil {
			done = total
		}
		if err == nil && progress != nil {
			progress(done, total)
		}
	}
	return err
}

// sizes returns the MiB of tables before a key, which are less than all, and of all.
func sizes(db *leveldb.DB, key []byte) (before, total int, err error) {
	const mib = 1 << 20
	var stats leveldb.DBStats
	if err := db.Stats(&stats); err != nil {
		return 0, 0, err
	}
	sizes, err := db.SizeOf([]util.Range{{Limit: key}})
	total = int((stats.LevelSizes.Sum() + mib - 1) / mib)
	return max(0, min(int(sizes.Sum()/mib), total-1)), total, err
}

// rewritePart rewrites the tables of a part that begins with start, if they are not seen to have
// f's filters. It returns the start of the next part, or nil after the last one.
func rewritePart(o *opt.Options, f *policyFilter, db *leveldb.DB, start []byte) ([]byte, error) {
	s, err := db.GetSnapshot()
	if err != nil {
		return nil, err
	}
	defer func() { s.Release() }()
	var end []byte
	for try := range 3 { // compactions may miss a table that lies between two of theirs
		p, err := readPart(o, f, s, start, end)
		if err != nil || !p.old {
			return p.end, err
		}
		end = p.end
		if err := db.Write(&p.deletions, nil); err != nil {
			return nil, err
		}
		if try == 0 { // then CompactRange writes all its keys to tables
			s.Release()
			if s, err = db.GetSnapshot(); err != nil {
				return nil, err
			}
		}
		if err := db.CompactRange(util.Range{Start: start, Limit: end}); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("new tables do not get the filters of the options: pass those that the " +
		"database was opened with, and call Configure before leveldb.OpenFile. (Values larger than a " +
		"table need no filters: no other key is looked up there.)")
}

// A part is a range of keys. Some of its keys in a row are a window. All parts and windows begin
// with keys that nobody has, and windows of large values contain some.
type part struct {
	end       []byte        // or nil
	deletions leveldb.Batch // of the keys that nobody has
	old       bool          // no key that was looked up in a window is in a table with f's filters
}

const (
	partSize   = 48 << 20
	windowSize = 16 << 10
	windowKeys = 8 // at least, and at most looked up: some may be in memory, or alone in a table
)

var uncached = &opt.ReadOptions{DontFillCache: true}

// readPart reads a part of a database that begins with start. If end is nil, it finds that.
func readPart(
	o *opt.Options, f *policyFilter, s *leveldb.Snapshot, start, end []byte,
) (p part, err error) {
	it := s.NewIterator(&util.Range{Start: start, Limit: end}, uncached)
	defer it.Release()
	window := min(windowSize, o.GetCompactionTableSize(0)/4) // so that each table has a deletion
	size, since := 0, window                                 // of the part, since the last deletion
	if start != nil {
		p.deletions.Delete(start)
		since = 0
	}
	keys, seen := 0, false // of the window
	var last []byte
	for it.Next() {
		key := it.Key()
		if made := between(last, key); since >= window && made != nil {
			p.deletions.Delete(made)
			since = 0
			if keys >= windowKeys {
				p.old = p.old || !seen
				keys, seen = 0, false
				// goleveldb makes a transaction of a batch that exceeds its write buffer.
				if end == nil &&
					(size >= partSize || len(p.deletions.Dump()) > o.GetWriteBuffer()/2) {
					p.end = made
					return p, nil
				}
			}
		}
		last = append(last[:0], key...)
		if !p.old && !seen && keys < windowKeys {
			if seen, err = f.look(s, last); err != nil {
				return p, err
			}
		}
		keys++
		entry := len(key) + len(it.Value())
		size, since = size+entry, since+entry
	}
	p.old = p.old || keys > 0 && !seen
	if p.end = end; end == nil {
		end = withRandom(append(last, 0))
	}
	p.deletions.Delete(end)
	return p, it.Error()
}

// between returns a key that nobody has, with 16 random bytes, above a and below b. It returns nil
// if b is a, or that and zeros: this leaves no room.
func between(a, b []byte) []byte {
	b = bytes.TrimRight(b, "\x00")
	if bytes.Compare(a, b) >= 0 {
		return nil
	}
	key := bytes.Clone(b)
	key[len(key)-1]--
	if bytes.Compare(key, a) < 0 { // a begins with key
		key = append(bytes.Clone(a), 0)
	}
	return withRandom(key)
}

func withRandom(key []byte) []byte {
	key = binary.BigEndian.AppendUint64(key, rand.Uint64())
	return binary.BigEndian.AppendUint64(key, rand.Uint64())
}
