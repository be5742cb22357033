package pebblev2

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Rewrite gives new filters to the tables of db that were written with other options, while db is
// in use. o must be the options that db was opened with, after [Configure]. A table is rewritten if
// it lacks the mark, or if its filter has another name or size than o gives tables of its level, or
// of one above, from where Pebble may have moved it. If there is no such table, nothing is written.
//
// Rewrite goes through the keys in parts: 64 MiB of tables, or a 64th of db if that is more. After
// each it calls progress, unless that is nil, with the number of tables that are done and of all
// that it found. To go slower, sleep there. To stop, cancel ctx: Rewrite returns its error, in
// Pebble v1 at the end of a part. What is done stays done, and the next call goes on there. Any
// other error says how many tables are left, and why. Close db only after Rewrite has returned.
//
// Compactions rewrite a table of the last level only if a table above overlaps it. Rewrite sees to
// that by deleting keys that nobody has, with 16 random bytes each. No answer changes, and
// compactions remove the deletions, once older snapshots are closed. Whoever replicates db's log
// sees them. What lies above the tables is compacted with them, and external and virtual tables
// become tables of their own. Tables of a single key stay: few other keys are looked up in them.
// bench/RESULTS.md has the costs.
//
// Rewrite returns an error if db has another comparer than pebble.DefaultComparer, for which it
// cannot make up keys. Then write all entries to a new database that is opened with o.
func Rewrite(
	ctx context.Context, o *pebble.Options, db *pebble.DB, progress func(done, total int),
) error {
	if !hasDefaultOrder(o) {
		return fmt.Errorf("pebblev2: Rewrite cannot make up keys for the comparer %q: write all "+
			"entries to a new database", o.Comparer.Name)
	}
	w, err := wantedOf(o)
	if err != nil {
		return err
	}
	old, size, err := w.old(db, nil, nil)
	for total := len(old); len(old) > 0; {
		end, err := w.rewrite(ctx, db, firstPart(old, max(64<<20, size/64)))
		if err != nil {
			return fmt.Errorf("pebblev2: %d of %d tables are left: %w", len(old), total, err)
		}
		old = slices.DeleteFunc(old, func(t pebble.SSTableInfo) bool {
			return bytes.Compare(t.Smallest.UserKey, end) < 0
		})
		if progress != nil {
			progress(total-len(old), total)
		}
	}
	return err
}

// wanted says what new tables get.
type wanted struct {
	filters   levelFilters
	mark      bool
	wholeKeys bool // are in the filters, not prefixes
}

// wantedOf returns an error if o is not as Configure leaves it.
func wantedOf(o *pebble.Options) (wanted, error) {
	w := wanted{filters: filtersOf(o), wholeKeys: hasDefaultOrder(o)}
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
	return w, nil
}

// hasDefaultOrder reports whether o orders keys as pebble.DefaultComparer does.
func hasDefaultOrder(o *pebble.Options) bool {
	return o.Comparer == nil || o.Comparer.Name == pebble.DefaultComparer.Name
}

// isOld reports whether a table of a level lacks what new ones get. One that Pebble moved there
// from a level above may have the filter of that.
//
// The size of a filter tells the settings, given the number of keys: of the entries, those that are
// pinned may be older versions, and a key in millions has the hash of its neighbor.
func (w wanted) isOld(level int, t *pebble.SSTableInfo) bool {
	p := t.Properties
	most := int(min(p.NumEntries-p.NumRangeDeletions, math.MaxInt32))
	if most == 0 || bytes.Equal(t.Smallest.UserKey, t.Largest.UserKey) {
		return false // there are no keys for a filter, or no absent ones to look up
	}
	least := 0
	if w.wholeKeys {
		if between(t.Smallest.UserKey, t.Largest.UserKey) == nil {
			return false
		}
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
		return ok && ours.Name() == p.FilterPolicyName &&
			ours.FilterSize(least) <= p.FilterSize && p.FilterSize <= ours.FilterSize(most)
	})
}

// old returns the tables with keys from start to before end that lack what new ones get, by their
// smallest keys, and the size of all tables there. If start and end are nil, it looks at all.
func (w wanted) old(
	db *pebble.DB, start, end []byte,
) (old []pebble.SSTableInfo, size uint64, err error) {
	levels, err := db.SSTables(pebble.WithProperties(), pebble.WithKeyRangeFilter(start, end))
	for level, tables := range levels {
		for _, t := range tables {
			size += t.Size
			if w.isOld(level, &t) {
				old = append(old, t)
			}
		}
	}
	slices.SortFunc(old, func(a, b pebble.SSTableInfo) int {
		return bytes.Compare(a.Smallest.UserKey, b.Smallest.UserKey)
	})
	return old, size, err
}

// firstPart returns the first tables, which have that size together if there are enough.
func firstPart(tables []pebble.SSTableInfo, size uint64) []pebble.SSTableInfo {
	n := 0
	for sum := uint64(0); n < len(tables) && sum < size; n++ {
		sum += tables[n].Size
	}
	return tables[:n]
}

// rewrite rewrites tables, and all old ones of their range. It returns the end of that.
func (w wanted) rewrite(
	ctx context.Context, db *pebble.DB, tables []pebble.SSTableInfo,
) (end []byte, err error) {
	for range 3 { // a table may lie beside the ranges that are compacted
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var start []byte
		if start, end, err = overlap(db, tables); err != nil {
			return nil, err
		}
		if err := compactRange(ctx, db, start, end); err != nil {
			return nil, err
		}
		if tables, _, err = w.old(db, start, end); len(tables) == 0 || err != nil {
			return end, err
		}
	}
	return nil, errors.New("new tables do not get the filters of the options: pass those that the " +
		"database was opened with, and call Configure before pebble.Open")
}

// overlap deletes a key that nobody has inside each table, so that a compaction from start to
// before end rewrites them.
func overlap(db *pebble.DB, tables []pebble.SSTableInfo) (start, end []byte, err error) {
	batch := db.NewBatch()
	defer batch.Close()
	start = tables[0].Smallest.UserKey
	for _, t := range tables {
		if err := batch.Delete(between(t.Smallest.UserKey, t.Largest.UserKey), nil); err != nil {
			return nil, nil, err
		}
		if bytes.Compare(end, t.Largest.UserKey) < 0 {
			end = t.Largest.UserKey
		}
	}
	return start, append(slices.Clone(end), 0), batch.Commit(pebble.NoSync)
}

// between returns a key that nobody has, with 16 random bytes: above first, which is a key of a
// table, and below last. It returns nil if last is first, or that and zeros: this leaves no room.
func between(first, last []byte) []byte {
	last = bytes.TrimRight(last, "\x00")
	if bytes.Compare(first, last) >= 0 {
		return nil
	}
	key := slices.Clone(last)
	key[len(key)-1]--
	if bytes.Compare(key, first) < 0 { // first begins with key
		key = append(slices.Clone(first), 0)
	}
	key = binary.BigEndian.AppendUint64(key, rand.Uint64())
	return binary.BigEndian.AppendUint64(key, rand.Uint64())
}
