package pebblev2

import (
	"bytes"
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// groupSize is the number of tables of one level that Rewrite compacts at a time: enough to work well, few enough to be
// cancelled soon.
const groupSize = 8

// RewriteProgress tells how far [Rewrite] has come with the tables that the database had when it began.
type RewriteProgress struct {
	Rewritten TableCount // replaced, by tables with the filters of now
	Waiting   TableCount // above L6 and to be rewritten
	InL6      TableCount // in L6, as they were
}

// TableCount is a number of tables and their size.
type TableCount struct {
	Tables int
	Bytes  uint64
}

// Rewrite replaces the tables above L6 by new ones, whose filters are of the policies that db was opened with. It
// compacts them, some tables at a time, and calls progress, unless that is nil, before the first step and after each.
// It returns the last progress. Nothing waits after a complete run, unless the whole database is a single key.
//
// It costs as much writing as compacting the whole database, and it is seldom worth that: Pebble's own compactions
// replace the filters over time, and reads take the old ones meanwhile.
//
// Compactions move data down. What was above L6 lies in L6 afterwards, and has filters only if L6 is to have them
// ([WithL6]). Tables that lie in L6 already are rewritten where data from above comes down on them, and stay as they are
// elsewhere; Pebble has no way to compact L6 in place. A table that has nothing to be merged with is moved down as it is;
// this happens to a database whose only table above L6 overlaps none there. Both kinds are counted in InL6, and
// [FiltersOnDisk] tells the names of their filters. (Counted as rewritten, though they keep their filter, are tables that
// Pebble copies to shared storage as they are.)
//
// The database may be read and written meanwhile, but not closed. Rewrite writes no keys. When ctx is done it ends with
// ctx's error; what was rewritten stays so, and another call goes on. Other errors are Pebble's, such as
// pebble.ErrReadOnly, or say that db is nil.
func Rewrite(ctx context.Context, db *pebble.DB, progress func(RewriteProgress)) (RewriteProgress, error) {
	if db == nil {
		return RewriteProgress{}, errNilDB
	}
	r := &rewrite{db: db, before: make(map[uint64]uint64)}
	if err := r.begin(); err != nil {
		return RewriteProgress{}, err
	}
	for {
		if progress != nil {
			progress(r.progress)
		}
		if r.progress.Waiting.Tables == 0 {
			return r.progress, nil
		}
		done, err := r.step(ctx)
		if err != nil || done {
			return r.progress, err
		}
	}
}

var errNilDB = errors.New("pebblev2: the database is nil: pass one that pebble.Open returned without an error")

type rewrite struct {
	db       *pebble.DB
	before   map[uint64]uint64      // the sizes of the tables that there were, by the number of the file
	waiting  [][]pebble.SSTableInfo // those of them that are above L6 now, by level
	progress RewriteProgress
	distance int // how many levels the waiting tables are above L6, in sum
}

// keyRange is a range of keys to compact, with both its ends.
type keyRange struct{ start, end []byte }

func (r *rewrite) begin() error {
	levels, err := r.db.SSTables()
	if err != nil {
		return err
	}
	for _, tables := range levels {
		for _, t := range tables {
			r.before[uint64(t.BackingSSTNum)] += t.Size // virtual tables can share a file
		}
	}
	return r.look()
}

// look finds what has become of the tables.
func (r *rewrite) look() error {
	levels, err := r.db.SSTables()
	if err != nil {
		return err
	}
	above, inL6 := map[uint64]bool{}, map[uint64]bool{}
	r.waiting = make([][]pebble.SSTableInfo, numLevels-1)
	r.distance = 0
	for level, tables := range levels {
		for _, t := range tables {
			file := uint64(t.BackingSSTNum)
			switch _, old := r.before[file]; {
			case !old:
			case level == numLevels-1:
				inL6[file] = true
			default:
				above[file] = true
				r.waiting[level] = append(r.waiting[level], t)
				r.distance += numLevels - 1 - level
			}
		}
	}
	r.progress = RewriteProgress{}
	for file, size := range r.before {
		count := &r.progress.Rewritten
		switch {
		case above[file]:
			count = &r.progress.Waiting
		case inL6[file]:
			count = &r.progress.InL6
		}
		count.Tables++
		count.Bytes += size
	}
	return nil
}

// step compacts some of the waiting tables. It is done if none can be compacted.
func (r *rewrite) step(ctx context.Context) (done bool, err error) {
	ranges, err := r.ranges()
	if err != nil {
		return false, err
	}
	for _, k := range ranges {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if bytes.Equal(k.start, k.end) {
			continue // Compact takes no range of one key
		}
		before := r.distance
		if err := compact(ctx, r.db, k); err != nil {
			return false, err
		}
		if err := r.look(); err != nil {
			return false, err
		}
		if r.distance < before {
			return false, nil
		}
	}
	return true, nil
}

// ranges returns what to compact next; a range is for the case that the ones before bring nothing.
//
// A table alone would be moved, not rewritten. So that as few as possible are alone, the ranges are those of tables that
// are neighbours in a level, and the last ones, at most one in each of L1 to L5 and those in L0, go together.
func (r *rewrite) ranges() ([]keyRange, error) {
	most := 1
	for level := 2; level < numLevels-1; level++ {
		if len(r.waiting[level]) > len(r.waiting[most]) {
			most = level
		}
	}
	if group := r.waiting[most]; len(group) >= 2 {
		if len(group) >= 2*groupSize {
			group = group[:groupSize]
		}
		return []keyRange{{group[0].Smallest.UserKey, group[len(group)-1].Largest.UserKey}}, nil
	}

	all, err := r.allKeys()
	if err != nil {
		return nil, err
	}
	ranges := []keyRange{all}
	for _, tables := range r.waiting {
		for _, t := range tables { // of deleted keys, for example
			ranges = append(ranges, keyRange{t.Smallest.UserKey, t.Largest.UserKey})
		}
	}
	return ranges, nil
}

// allKeys returns the range of the keys that the database has. Its ends are equal if there are fewer than two.
func (r *rewrite) allKeys() (all keyRange, err error) {
	iter, err := r.db.NewIter(nil)
	if err != nil {
		return all, err
	}
	if iter.First() {
		all.start = bytes.Clone(iter.Key())
	}
	if iter.Last() {
		all.end = bytes.Clone(iter.Key())
	}
	return all, iter.Close()
}

// compact compacts a range of keys through all levels.
func compact(ctx context.Context, db *pebble.DB, k keyRange) error {
	return db.Compact(ctx, k.start, k.end, false)
}
