package pebblev2

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Rewrite gives new filters to the tables of db that were written with other options, while db is
// in use. o must be the options that db was opened with, after [Configure]. A table is rewritten if
// it lacks a filter that o gives tables of its level, if it has a filter and no mark, or one of
// another name or size than o gives its level, or one above, from where Pebble may have moved it.
// If there is no such table, nothing is written.
// If the comparer has a Split of its own, or a snapshot keeps old versions, a filter has any number
// of keys, and its size tells little: for another kind of filter or more bits per key, give the
// policy another name.
//
// Rewrite goes through the keys in parts: 64 MiB of such tables, or a 64th of db if that is more.
// After each it calls progress, unless that is nil, with the bytes of tables that are done and of
// all that it found. To go slower, sleep there. To stop, cancel ctx. What is done stays done, and
// the next call goes on there. An error says how many tables are left, and why, and wraps that of
// ctx or of Pebble: of a block that cannot be read, for example, at which every call stops. Close
// db only after Rewrite has returned.
//
// A compaction rewrites a table of the last level only if a table above overlaps it. So Rewrite
// calls RangeKeyUnset, without a suffix, from the smallest key of a table to the largest, both
// without their suffixes. It makes up no key and writes none, and no answer changes, since there
// are no such range keys. Compactions drop the entries at once, unless the program has range keys
// with suffixes there and a snapshot is open: then they stay until a table above overlaps them.
// A program that replicates db's log replicates them. What lies above the tables is compacted with
// them, and external and virtual tables become tables of their own. Tables of a single prefix stay:
// a filter excludes no key that is looked up there.
//
// Rewrite writes as many bytes as db has, if all are in L6 and db is at rest, otherwise 1.5 to 1.9
// times as many, and needs a fifth more disk. An open iterator keeps all tables that are replaced:
// db then takes twice its size. A program that writes without pause delays compactions, and so
// Rewrite. bench/RESULTS.md has the costs.
//
// Rewrite stops at a part in which it finds range keys without suffix, which it would remove. It
// cannot see those that the program sets at that moment: do not set any while it runs. Before it
// writes, it asks the comparer and the collectors in o about the entries over each table, and stops
// if one refuses. Then write all entries to a new database that is opened with o.
func Rewrite(
	ctx context.Context, o *pebble.Options, db *pebble.DB, progress func(done, total int64),
) error {
	w, err := wantedOf(o)
	if err != nil {
		return err
	}
	old, others, err := w.old(db, nil, nil)
	if err != nil {
		return fmt.Errorf("pebblev2: which tables lack filters: %w", err)
	}
	total, bytes := len(old), sizeOf(old)
	part := max(64<<20, (bytes+sizeOf(others))/64)
	for len(old) > 0 {
		end, err := w.rewrite(ctx, db, firstPart(old, part), others)
		if err != nil {
			left, _, _ := w.old(db, nil, nil)
			return fmt.Errorf("pebblev2: %d of %d tables are left: %w",
				len(left), max(len(left), total), err)
		}
		old = slices.DeleteFunc(old, func(t pebble.SSTableInfo) bool {
			return w.comparer.Compare(t.Smallest.UserKey, end) < 0
		})
		if progress != nil {
			progress(bytes-sizeOf(old), bytes)
		}
	}
	return nil
}

// sizeOf returns the bytes of tables.
func sizeOf(tables []pebble.SSTableInfo) (bytes int64) {
	for _, t := range tables {
		bytes += int64(t.Size)
	}
	return bytes
}

// firstPart returns the first tables, which have that size together if there are enough.
func firstPart(tables []pebble.SSTableInfo, size int64) []pebble.SSTableInfo {
	n := 0
	for sum := int64(0); n < len(tables) && sum < size; n++ {
		sum += int64(tables[n].Size)
	}
	return tables[:n]
}

// rewrite rewrites tables, and all old ones of their range. It returns the end of that.
func (w wanted) rewrite(
	ctx context.Context, db *pebble.DB, tables, others []pebble.SSTableInfo,
) (end []byte, err error) {
	ranges := w.ranges(tables)
	start, end := ranges[0].Start, ranges[len(ranges)-1].End
	for range 3 { // a table may lie beside the ranges that are compacted
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.check(db, tables); err != nil {
			return nil, err
		}
		if err := overlap(db, ranges); err != nil {
			return nil, fmt.Errorf("%w: was Configure called before pebble.Open?", err)
		}
		for _, r := range w.runs(ranges, others) {
			if err := compactRange(ctx, db, r.Start, r.End); err != nil {
				return nil, err
			}
		}
		tables, others, err = w.old(db, start, end)
		if len(tables) == 0 || err != nil {
			return end, err
		}
		ranges = w.ranges(tables)
	}
	return nil, errors.New("tables that were written meanwhile lack the filters of the options: " +
		"pass those that the database was opened with, and call Configure before pebble.Open; or " +
		"the program ingests such tables or excises ranges all the time")
}

// ranges returns the prefixes from and to which tables have keys, in order. Tables that overlap
// share a range. Others do not: it would make one large compaction of many small ones.
func (w wanted) ranges(tables []pebble.SSTableInfo) (ranges []pebble.KeyRange) {
	var last []byte
	for _, t := range tables {
		smallest, largest := t.Smallest.UserKey, t.Largest.UserKey
		if last == nil || w.comparer.Compare(last, smallest) < 0 {
			start := append([]byte{}, w.prefix(smallest)...) // nil would be no bound
			ranges = append(ranges, pebble.KeyRange{Start: start, End: w.prefix(largest)})
			last = largest
		} else if w.comparer.Compare(last, largest) < 0 {
			ranges[len(ranges)-1].End, last = w.prefix(largest), largest
		}
	}
	return ranges
}

// runs joins ranges between which no other table lies. To compact each range by itself would flush
// what the program writes as often, and to compact all at once would rewrite what lies between.
func (w wanted) runs(
	ranges []pebble.KeyRange, others []pebble.SSTableInfo,
) (runs []pebble.KeyRange) {
	compare := w.comparer.Compare
	for _, r := range ranges {
		isApart := len(runs) == 0
		if !isApart {
			end := runs[len(runs)-1].End
			i, _ := slices.BinarySearchFunc(others, end, func(t pebble.SSTableInfo, end []byte) int {
				return compare(t.Smallest.UserKey, end)
			})
			for ; i < len(others) && compare(others[i].Smallest.UserKey, r.Start) < 0; i++ {
				isApart = isApart || compare(others[i].Largest.UserKey, r.Start) < 0
			}
		}
		if isApart {
			runs = append(runs, r)
		}
		runs[len(runs)-1].End = r.End
	}
	return runs
}

// overlap puts an entry over each range, so that a compaction rewrites all tables there. In one
// batch: one by one, they cost 2.0 bytes written per byte, not 1.5 (BenchmarkRewrite, in levels).
func overlap(db *pebble.DB, ranges []pebble.KeyRange) error {
	batch := db.NewBatch()
	defer batch.Close()
	for _, r := range ranges {
		if err := batch.RangeKeyUnset(r.Start, r.End, nil, nil); err != nil {
			return err
		}
	}
	return batch.Commit(pebble.NoSync)
}
