package pebblev2

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Rewrite gives new filters to the tables of db that were written with other options, while db is
// in use. o must be the options that db was opened with, after [Configure]. A table is rewritten if
// it lacks the mark, or if its filter has another name or size than o gives tables of its level, or
// of one above, from where Pebble may have moved it. If there is no such table, nothing is written.
// If the comparer splits keys, or a snapshot keeps old versions, a filter has any number of keys,
// and its size tells little: for another kind of filter or more bits per key, give the policy
// another name.
//
// Rewrite goes through the keys in parts: 64 MiB of such tables, or a 64th of db if that is more.
// After each it calls progress, unless that is nil, with the bytes of tables that are done and of
// all that it found. To go slower, sleep there. To stop, cancel ctx: Rewrite returns its error, in
// Pebble v1 at the end of a compaction. What is done stays done, and the next call goes on there.
// Any other error says how many tables are left, and why: a block that cannot be read, for example,
// which no call passes. Close db only after Rewrite has returned.
//
// A compaction rewrites a table of the last level only if a table above overlaps it. So Rewrite
// calls DB.RangeKeyUnset, without a suffix, from the smallest key of a table to the largest, both
// without their suffixes. It makes up no key and writes none, and no answer changes, since there
// are no such range keys. Compactions drop the entries at once, unless the program has range keys
// with suffixes there and a snapshot is open: then they stay until a table above overlaps them.
// Whoever replicates db's log sees them. What lies above the tables is compacted with them, and
// external and virtual tables become tables of their own. Tables of a single prefix stay: a filter
// excludes no key that is looked up there.
//
// Rewrite writes 1.01 bytes per byte of db, if it is at rest, and needs a fifth more disk. An open
// iterator keeps all tables that are replaced: db then takes twice its size. A program that writes
// without pause delays compactions, and so Rewrite. bench/RESULTS.md has the costs.
//
// Rewrite stops at a part in which it finds range keys without suffix, which it would remove. It
// cannot see those that the program sets at that moment: do not set any while it runs. Before it
// writes, it asks the comparer and the collectors in o about the entries over each table, and stops
// if one refuses. Then write all entries to a new database that is opened with o. Pebble v1 has
// range keys from FormatRangeKeys on: Rewrite refuses older formats.
func Rewrite(
	ctx context.Context, o *pebble.Options, db *pebble.DB, progress func(done, total int64),
) error {
	w, err := wantedOf(o)
	if err != nil {
		return err
	}
	old, others, err := w.old(db, nil, nil)
	if err != nil {
		return fmt.Errorf("pebblev2: %w", err)
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

// wanted says what new tables get.
type wanted struct {
	options   *pebble.Options
	comparer  *pebble.Comparer
	filters   levelFilters
	mark      bool
	wholeKeys bool // are in the filters, not prefixes
}

// wantedOf returns an error if o is not as Configure leaves it.
func wantedOf(o *pebble.Options) (wanted, error) {
	w := wanted{options: o, comparer: comparerOf(o), filters: filtersOf(o)}
	if !slices.ContainsFunc(w.filters[:], func(f pebble.FilterPolicy) bool {
		_, ours := f.(filterPolicy)
		return ours
	}) {
		return w, errors.New("pebblev2: the options do not have the filters that Configure gives: " +
			"pass them to Configure before pebble.Open")
	}
	for _, collector := range o.BlockPropertyCollectors {
		w.mark = w.mark || collector().Name() == markName
	}
	w.wholeKeys = splitsNothing(w.comparer)
	return w, nil
}

// splitsNothing reports whether a comparer takes whole keys for prefixes. Its name does not tell:
// programs give that of the default one to their own. So this asks about a key with all bytes,
// twice in a row, and in ascending order: about most separators, and any fixed length.
func splitsNothing(c *pebble.Comparer) bool {
	key := make([]byte, 512)
	for i := range key {
		key[i] = byte(i / 2)
	}
	prefix, ok := prefixOf(c, key)
	return ok && len(prefix) == len(key)
}

// prefixOf returns the part of a key that filters contain, or false if Split panics. It may, as
// few of Pebble's methods call it for bounds of range deletions, which need not be keys.
func prefixOf(c *pebble.Comparer, key []byte) (prefix []byte, ok bool) {
	defer func() { _ = recover() }()
	return key[:c.Split(key)], true
}

// prefix returns the prefix of a table's bound, or all of it if Split panics.
func (w wanted) prefix(bound []byte) []byte {
	if prefix, ok := prefixOf(w.comparer, bound); ok {
		return prefix
	}
	return bound
}

// isOld reports whether a table of a level lacks what new ones get. One that Pebble moved there
// from a level above may have the filter of that.
//
// The size of a filter tells the settings, given the number of keys: of the entries, those that are
// pinned may be older versions, and a key in millions has the hash of its neighbor.
func (w wanted) isOld(level int, t *pebble.SSTableInfo) bool {
	p := t.Properties
	most := int(min(p.NumEntries-p.NumRangeDeletions, math.MaxInt32))
	first, last := w.prefix(t.Smallest.UserKey), w.prefix(t.Largest.UserKey)
	if most == 0 || bytes.Equal(first, last) {
		return false // there are no keys for a filter, or none that it could exclude
	}
	least := 0
	if w.wholeKeys && len(first) == len(t.Smallest.UserKey) && len(last) == len(t.Largest.UserKey) {
		least = max(0, most-most>>22-1-int(min(p.SnapshotPinnedKeys, math.MaxInt32)))
	}
	if _, marked := p.UserProperties[markName]; w.mark && !marked {
		return true
	}
	if p.FilterPolicyName == "" {
		return w.filters[level] != nil
	}
	return !slices.ContainsFunc(w.filters[:level+1], func(f pebble.FilterPolicy) bool {
		ours, ok := f.(filterPolicy)
		return ok && ours.Name() == p.FilterPolicyName && isSize(ours, p.FilterSize, least, most)
	})
}

// isSize reports whether filters of least to most keys have a size. Up to 700 keys, one of more
// keys may be smaller: see Policy.FilterSize.
func isSize(f filterPolicy, size uint64, least, most int) bool {
	const few = 700
	if n := max(least, few+1); n <= most && f.FilterSize(n) <= size {
		return size <= f.FilterSize(most)
	}
	for n := least; n <= min(most, few); n++ {
		if f.FilterSize(n) == size {
			return true
		}
	}
	return false
}

// old returns the tables with keys from start to before end that lack what new ones get, and the
// others, both by their smallest keys. If start and end are nil, it looks at all.
func (w wanted) old(
	db *pebble.DB, start, end []byte,
) (old, others []pebble.SSTableInfo, err error) {
	levels, err := db.SSTables(pebble.WithProperties(), pebble.WithKeyRangeFilter(start, end))
	if err != nil {
		return nil, nil, fmt.Errorf("which tables lack filters: %w", err)
	}
	for level, tables := range levels {
		for _, t := range tables {
			if w.isOld(level, &t) {
				old = append(old, t)
			} else {
				others = append(others, t)
			}
		}
	}
	for _, tables := range [][]pebble.SSTableInfo{old, others} {
		slices.SortFunc(tables, func(a, b pebble.SSTableInfo) int {
			return w.comparer.Compare(a.Smallest.UserKey, b.Smallest.UserKey)
		})
	}
	return old, others, nil
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
		if err := w.overlap(db, tables, ranges); err != nil {
			return nil, err
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

// overlap puts an entry over each range, so that a compaction rewrites all tables there.
func (w wanted) overlap(
	db *pebble.DB, tables []pebble.SSTableInfo, ranges []pebble.KeyRange,
) error {
	if err := w.check(db, tables); err != nil {
		return err
	}
	if err := w.findPlain(db, ranges[0].Start, ranges[len(ranges)-1].End); err != nil {
		return err
	}
	batch := db.NewBatch()
	defer batch.Close()
	for _, r := range ranges {
		if err := batch.RangeKeyUnset(r.Start, r.End, nil, nil); err != nil {
			return err
		}
	}
	return batch.Commit(pebble.NoSync)
}

// check returns why there must be no such entries over tables. Pebble asks the program about them
// in the background, and if the answer is an error, can neither flush them nor open the database
// again. So check asks first.
func (w wanted) check(db *pebble.DB, tables []pebble.SSTableInfo) error {
	if err := lacksRangeKeys(db); err != nil {
		return err
	}
	if w.options.DisableAutomaticCompactions {
		sublevels := int(db.Metrics().Levels[0].Sublevels)
		if sublevels >= cmp.Or(w.options.L0StopWritesThreshold, 12) { // Pebble's default
			return fmt.Errorf("L0 has %d sublevels, at which Pebble stops all writes: call DB.Compact",
				sublevels)
		}
	}
	for _, t := range tables {
		if err := w.refusal(t.Smallest.UserKey, t.Largest.UserKey); err != nil {
			return fmt.Errorf("the options refuse to remove range keys (%w): write all entries to a "+
				"new database", err)
		}
	}
	return nil
}

// findPlain returns an error if there are range keys without suffix from start to before end: the
// entries would remove them.
func (w wanted) findPlain(db *pebble.DB, start, end []byte) error {
	iter, err := db.NewIter(&pebble.IterOptions{
		LowerBound: start, UpperBound: end, KeyTypes: pebble.IterKeyTypeRangesOnly,
	})
	if err != nil {
		return err
	}
	for valid := iter.First(); valid && err == nil; valid = iter.Next() {
		for _, key := range iter.RangeKeys() {
			if isEmpty(w.comparer, key.Suffix) {
				first, _ := iter.RangeBounds()
				err = fmt.Errorf("there are range keys without suffix, from %x on, which would be "+
					"removed: write all entries to a new database", first)
			}
		}
	}
	return errors.Join(err, iter.Close())
}

// refusal returns the error with which the program's functions in the options answer if they are
// asked about a removal of range keys without suffix over a table. A panic is one. Pebble compares
// the prefixes with whole keys, and cuts the range at such keys.
func (w wanted) refusal(smallest, largest []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	start, end := w.prefix(smallest), w.prefix(largest)
	for _, prefix := range [][]byte{start, end} {
		if n := w.comparer.Split(prefix); n != len(prefix) {
			return fmt.Errorf("of the prefix %x, Split takes %d bytes", prefix, n)
		}
	}
	ascending := [][]byte{start, smallest, end, largest}
	for i, a := range ascending {
		for j, b := range ascending[i+1:] {
			order, reverse := w.comparer.Compare(a, b), w.comparer.Compare(b, a)
			if order > 0 || order == 0 && i+j == 1 || (order < 0) != (reverse > 0) {
				return fmt.Errorf("the key %x is not below %x", a, b)
			}
			if order < 0 {
				if err := validate(w.options, a, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// finish ends a table without points, as Pebble does.
func finish(c pebble.BlockPropertyCollector) error {
	_, ofBlock := c.FinishDataBlock(nil)
	c.AddPrevDataBlockToIndexBlock()
	_, ofIndex := c.FinishIndexBlock(nil)
	_, ofTable := c.FinishTable(nil)
	return errors.Join(ofBlock, ofIndex, ofTable)
}
