package goleveldb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// Rewrite gives new filters to the tables of db that were written with other options, while db is
// in use. o must be the options that db was opened with, after [Configure].
//
// goleveldb does not tell which filters a table has. So Rewrite reads all keys, in parts of 48 MiB,
// looks up about two keys of every 4 KiB, and sees which filters db consults. At the first key that
// is found through another filter than o's, or through none, it rewrites the rest of the part. It
// does not notice another FilterBaseLg, Bloom filters with as many probes (0.69 times the bits per
// key), tables of less than 4 KiB, or tables nearly all of whose keys have been overwritten or
// deleted. policy.WithCounters counts these lookups too.
//
// After each part, Rewrite calls progress, unless that is nil, with the bytes of tables that it has
// gone through and of all. To go slower, sleep there. To stop, cancel ctx: Rewrite returns before
// it reads or rewrites another part. What is done stays done, and the next call writes only what is
// left. An error says how much that is, and why, and wraps that of ctx or of goleveldb. ctx does
// not interrupt what goleveldb itself waits for: an open transaction, or compactions while a
// program fills write buffers faster than they write tables. Close db only after Rewrite has
// returned.
//
// A compaction rewrites a table of the last level only if a table above overlaps it. So Rewrite
// deletes keys that nobody has, with 16 random bytes each. No answer changes, but a program that
// replicates db's writes replicates the deletions. Compactions drop nearly all of them. Under an
// older snapshot, they stay in the last level until a table above overlaps them.
//
// Rewrite writes as many bytes as db has, and needs 50 MiB more disk, if all are in the last level
// and db is at rest. Otherwise it writes 1.1 to 1.9 times as many, and needs some 200 MiB. An open
// iterator keeps all tables that are replaced: db then takes up to three times its size.
// bench/RESULTS.md has the costs.
//
// Rewrite returns an error if o has a Comparer of its own, for which it cannot make up keys. Then
// write all entries to a new database that is opened with o.
func Rewrite(
	ctx context.Context, o *opt.Options, db *leveldb.DB, progress func(done, total int64),
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
		if start, err = rewritePart(ctx, o, f, db, start); err != nil {
			return fmt.Errorf("goleveldb: %d of %d MiB are left: %w", mib(total-done), mib(total), err)
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

// sizes returns the bytes of tables before a key, which are less than all, and of all.
func sizes(db *leveldb.DB, key []byte) (before, total int64, err error) {
	var stats leveldb.DBStats
	if err := db.Stats(&stats); err != nil {
		return 0, 0, err
	}
	sizes, err := db.SizeOf([]util.Range{{Limit: key}})
	total = stats.LevelSizes.Sum()
	return max(0, min(sizes.Sum(), total-1)), total, err
}

// mib returns the MiB that bytes take, rounded up.
func mib(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// rewritePart reads a part that begins with start, and rewrites it until no table is old. It
// returns where the next part begins, or nil after the last one.
func rewritePart(
	ctx context.Context, o *opt.Options, f *policyFilter, db *leveldb.DB, start []byte,
) ([]byte, error) {
	p := part{start: start}
	for try := range 4 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := db.Write(&p.deletions, nil); err != nil {
			return nil, err
		}
		s, err := db.GetSnapshot()
		if err != nil {
			return nil, err
		}
		if try > 0 { // then all keys of s are in tables
			err = db.CompactRange(util.Range{Start: p.start, Limit: p.end})
		}
		if err == nil {
			p, err = readPart(o, f, s, p.start, p.end)
		}
		if try == 0 {
			s.Release()
		} else { // so that compactions keep further deletions, and rewrite all that lies between
			defer s.Release()
		}
		if err != nil || p.deletions.Len() == 0 {
			return p.end, err
		}
	}
	return nil, errors.New("new tables do not get the filters of the options: pass those that the " +
		"database was opened with, and call Configure before leveldb.OpenFile")
}

// A part is a range of keys. If it has an old table, start is there, and deletions are of keys that
// nobody has, in each larger table from there on.
type part struct {
	start, end []byte // end is nil in the last part
	deletions  leveldb.Batch
}

const (
	partSize = 48 << 20
	stepSize = 4 << 10
)

// readPart reads a part that begins with start, and ends with limit or before. Until it finds an
// old key, it looks up those at which a step ends, which have most of the bytes, and about one of
// the others in a step: small entries beside large ones may all be old, or all be new. A checksum
// draws it, so that a second call draws the same.
func readPart(
	o *opt.Options, f *policyFilter, s *leveldb.Snapshot, start, limit []byte,
) (p part, err error) {
	it := s.NewIterator(&util.Range{Start: start, Limit: limit}, uncached)
	defer it.Release()
	step := min(stepSize, o.GetCompactionTableSize(0)/128) // many in a table
	last, size, next, old := bytes.Clone(start), 0, 0, false
	others, usual := uint32(0), uint32(1) // keys in this step but its last, and in the one before
	for it.Next() {
		key := it.Key()
		if bytes.Compare(last, key) > 0 {
			return p, errComparer
		}
		var made []byte
		end := size + len(key) + len(it.Value())
		if end > next || !old && crc32.ChecksumIEEE(key)%usual == 0 {
			made = between(last, key)
		}
		if made != nil {
			// goleveldb makes a transaction of a batch that exceeds its write buffer.
			if size >= partSize || len(p.deletions.Dump()) > o.GetWriteBuffer()/4 {
				p.end = made
				return p, nil
			}
			if !old {
				p.start = made
				old, err = f.isOld(s, key, made)
			}
			if old && err == nil {
				err = p.remove(s, made)
			}
			if err != nil {
				return p, err
			}
		}
		if others++; made != nil && end > next {
			next, usual, others = end+step, max(1, others-1), 0
		}
		last, size = append(last[:0], key...), end
	}
	p.end, err = limit, it.Error()
	if old && err == nil {
		err = p.remove(s, withRandom(last))
	}
	return p, err
}

var errComparer = errors.New("the database has another comparer than the options")

// remove adds the deletion of a key that nobody has. It looks the key up first: a comparer that is
// not the options' may find it equal to another key, or panic, and better here than once the log
// has the deletion and each start repeats it.
func (p *part) remove(s *leveldb.Snapshot, made []byte) error {
	found, err := s.Has(made, uncached)
	if found {
		err = errComparer
	}
	p.deletions.Delete(made)
	return err
}

// isOld reports whether s has key in a table without filters like new ones. If it is in memory, no
// filter is asked about it, but some are about near, a key below it that nobody has, or about one
// above it.
func (f *policyFilter) isOld(s reader, key, near []byte) (bool, error) {
	found, err := f.look(s, key)
	if err != nil || found.ours.Load() || found.asked.Load() {
		return !found.ours.Load(), err
	}
	for _, absent := range [][]byte{near, withRandom(bytes.Clone(key))} {
		l, err := f.look(s, absent)
		if err != nil || l.asked.Load() {
			return false, err
		}
	}
	return true, nil
}

// between returns a key that nobody has, with 16 random bytes, above a and below b. It is not much
// longer than what they share. It returns nil if b is a and zeros: this leaves no room.
func between(a, b []byte) []byte {
	padded, shared := append(bytes.Clone(a), make([]byte, len(b))...), 0
	for shared < len(b) && b[shared] == padded[shared] {
		shared++
	}
	if shared == len(b) {
		return nil
	}
	key := bytes.Clone(b[:shared+1])
	key[shared]--
	for len(key) < len(a) && bytes.HasPrefix(a, key) {
		key = append(key, 0xff)
	}
	return withRandom(key)
}

func withRandom(key []byte) []byte {
	key = binary.BigEndian.AppendUint64(key, rand.Uint64())
	return binary.BigEndian.AppendUint64(key, rand.Uint64())
}
