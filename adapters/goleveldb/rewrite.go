package goleveldb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// Rewrite replaces every table that an open database has now, so that all tables have the filters that the database's
// options say: after Configure with another setting, and also to remove filters, or to go back to another policy. It
// returns nil when all of them have been replaced. The content stays as it is.
//
// The database stays in use: readers go on, and writers wait at times as they do for any compaction. If they write faster
// than the database can compact, a portion may hold them up for some seconds. Rewrite works through the keys in order, in
// portions of 64 MiB, and calls progress, unless that is nil, after each. When ctx is done, it stops between two portions
// and returns the context's error; what has been rewritten remains so, and the database is as good as before. Two calls at
// the same time do no harm, but do the work twice.
//
// It reads the whole database twice, the second time mostly from the system's cache, writes it once or a little more, and
// leaves nearly all of it in the deepest level, as CompactRange does; disk space is needed for one portion more, and for
// what open iterators and snapshots keep. If tables remain that it cannot reach, the error is [ErrTablesLeft]. It is an
// error too if the database is closed or read-only, or if reading or writing fails.
//
// It compacts, and goleveldb's compactions damage databases whose Comparer does not order keys byte by byte (they compare
// the bounds of tables that way): do not call it for these, nor CompactRange.
//
// Rewrite opens transactions. It waits for a transaction that is open, for ever if the caller holds it. Let it return
// before the database is closed: goleveldb's Close may otherwise wait for ever.
//
// CompactRange alone does not do it: it leaves tables of the deepest level as they are unless a table above overlaps
// them. So Rewrite first writes some keys once more, with the values they have, in a transaction, which keeps all other
// writers out.
func Rewrite(ctx context.Context, db *leveldb.DB, progress func(RewriteProgress)) error {
	if db == nil {
		return errors.New("goleveldb: Rewrite of a nil database: pass an open one")
	}
	r := rewriter{db: db, portion: 64 << 20, stretch: 1 << 20, grace: 2 * time.Second, progress: progress}
	return r.run(ctx)
}

// ErrTablesLeft is what Rewrite returns, with their number, if tables remain as they were after three passes over all keys
// of the database. As a rule they hold nothing that can be read, or only through a snapshot that was there: a deletion,
// for example, which an older snapshot kept from being dropped. They may stay, or one may write in their range of keys and
// call Rewrite again.
var ErrTablesLeft = errors.New("goleveldb: some tables, as a rule without a readable key, remain as they were; all others are rewritten")

// RewriteProgress tells how far Rewrite has come.
type RewriteProgress struct {
	Pass        int    // 1; then 2 and 3, should tables of the database be left
	Key         []byte // all keys up to this one are done in this pass; valid until the function returns
	Done, Total int64  // bytes of tables up to Key, and in all, as the database estimates them (SizeOf, Stats)
}

// A rewriter brings a new table above all others to the deepest level. On its way there, a compaction rewrites all
// tables that it overlaps.
//
// The engine may cut that table into several, between any two of its keys: to overlap little of the next level at once,
// or to compact little at once, which also counts what other writers bring. A table that lies between two parts is then
// left. So the new table has a key for each stretch of the data, shorter than tables usually are, and another pass takes
// shorter stretches.
type rewriter struct {
	db       *leveldb.DB
	portion  int           // bytes of keys and values to rewrite in one go
	stretch  int           // bytes of keys and values, one of which is written once more
	grace    time.Duration // how long a compaction may compete with writers
	progress func(RewriteProgress)
}

const rewritePasses = 3

func (r *rewriter) run(ctx context.Context) error {
	old, err := tableNumbers(r.db)
	if err != nil {
		return err
	}
	left := len(old)
	for pass := 1; left > 0; pass++ {
		if pass > rewritePasses {
			return fmt.Errorf("%w: %d of %d", ErrTablesLeft, left, len(old))
		}
		if err := r.pass(ctx, pass); err != nil {
			return err
		}
		if left, err = stillThere(r.db, old); err != nil {
			return err
		}
		if left == 0 {
			break
		}
		// The portions end at keys that exist. What is left may lie between, and above the deepest level.
		if err := r.compact(util.Range{}); err != nil {
			return err
		}
		if left, err = stillThere(r.db, old); err != nil {
			return err
		}
		r.stretch >>= 4
	}
	return nil
}

// pass rewrites the whole database, portion by portion. Neighbours share a key, so that no table is between them.
func (r *rewriter) pass(ctx context.Context, number int) error {
	var first, from []byte
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		keys, following, err := r.choose(from)
		if err != nil {
			return err
		}
		more = following
		if len(keys) == 0 { // an empty database, or all keys from here on were deleted meanwhile
			return r.compact(util.Range{Start: from})
		}
		if err := putAgain(r.db, keys); err != nil {
			return err
		}
		portion := util.Range{Start: from, Limit: keys[len(keys)-1]} // from is nil at first: before all keys
		if !more {
			portion.Limit = nil
		}
		if err := r.compact(portion); err != nil {
			return err
		}
		if first == nil {
			first = keys[0]
		}
		from = keys[len(keys)-1]
		if err := r.report(number, first, from, more); err != nil {
			return err
		}
	}
	return nil
}

// choose goes through one portion, and returns its first and last key, and the key of the smallest entry in each
// stretch, in order. more tells whether keys follow.
func (r *rewriter) choose(from []byte) (keys [][]byte, more bool, err error) {
	it := r.db.NewIterator(&util.Range{Start: from}, &opt.ReadOptions{
		DontFillCache: true,
		Strict:        opt.StrictReader, // a compaction might drop a damaged block
	})
	defer it.Release()

	var last, smallest []byte
	portion, stretch, smallestSize := 0, 0, 0
	for n := 0; it.Next(); n++ {
		if n >= 2 && portion >= r.portion {
			more = true
			break
		}
		size := len(it.Key()) + len(it.Value())
		portion += size
		stretch += size
		last = append(last[:0], it.Key()...)
		if n == 0 {
			keys = append(keys, bytes.Clone(it.Key()))
			continue
		}
		if smallest == nil || size < smallestSize {
			smallest, smallestSize = bytes.Clone(it.Key()), size
		}
		if stretch >= r.stretch {
			keys = append(keys, smallest)
			smallest, stretch = nil, 0
		}
	}
	if n := len(keys); n > 0 && !bytes.Equal(keys[n-1], last) {
		keys = append(keys, last)
	}
	return keys, more, it.Error()
}

// compact is CompactRange with an end: CompactRange goes on for as long as writers bring new tables faster than it merges
// them. If that takes longer than the grace, a transaction, which then stays empty, keeps the writers out.
func (r *rewriter) compact(portion util.Range) error {
	done := make(chan error, 1)
	go func() { done <- r.db.CompactRange(portion) }()
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(r.grace):
		}
		tr, err := r.db.OpenTransaction()
		if err != nil {
			return errors.Join(err, <-done)
		}
		select {
		case err := <-done:
			tr.Discard()
			return err
		case <-time.After(10 * r.grace): // CompactRange itself begins as a writer; should it be waiting, let it in
			tr.Discard()
		}
	}
}

// putAgain writes the present values of keys once more, if they have any, into a table of their own.
func putAgain(db *leveldb.DB, keys [][]byte) error {
	tr, err := db.OpenTransaction()
	if err != nil {
		return err
	}
	defer tr.Discard() // does nothing after Commit
	for _, key := range keys {
		value, err := tr.Get(key, nil)
		if err == leveldb.ErrNotFound {
			continue
		}
		if err != nil {
			return err
		}
		if err := tr.Put(key, value, nil); err != nil {
			return err
		}
	}
	return tr.Commit()
}

// report calls progress. first is the first key of the database.
func (r *rewriter) report(pass int, first, key []byte, more bool) error {
	if r.progress == nil {
		return nil
	}
	var s leveldb.DBStats
	if err := r.db.Stats(&s); err != nil {
		return err
	}
	p := RewriteProgress{Pass: pass, Key: key, Total: s.LevelSizes.Sum()}
	p.Done = p.Total
	if more {
		sizes, err := r.db.SizeOf([]util.Range{{Start: first, Limit: key}})
		if err != nil {
			return err
		}
		p.Done = min(sizes.Sum(), p.Total)
	}
	r.progress(p)
	return nil
}

// tableNumbers returns the numbers of a database's tables. goleveldb gives a number again only if it was the largest and
// its table is gone: that new table then counts as an old one, which costs another pass at worst.
func tableNumbers(db *leveldb.DB) (map[int64]bool, error) {
	list, err := db.GetProperty("leveldb.sstables")
	if err != nil {
		return nil, err
	}
	numbers := map[int64]bool{}
	for _, line := range strings.Split(list, "\n") {
		if line == "" || strings.HasPrefix(line, "--- level ") {
			continue
		}
		text, _, _ := strings.Cut(line, ":") // number:size[first key .. last key]
		number, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("goleveldb: the database lists its tables in an unknown form: %q", line)
		}
		numbers[number] = true
	}
	return numbers, nil
}

// stillThere returns how many tables of old a database still has.
func stillThere(db *leveldb.DB, old map[int64]bool) (n int, err error) {
	now, err := tableNumbers(db)
	for number := range now {
		if old[number] {
			n++
		}
	}
	return n, err
}
