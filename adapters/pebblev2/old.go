package pebblev2

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Which tables are old, by what stands in their properties.

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

// splitsNothing reports whether a comparer takes whole keys for prefixes, as the default one does:
// whether it has that one's Split. Its name does not tell: programs give the default one's to their
// own. Nor do answers of Split: it may split the keys of some tables alone.
func splitsNothing(c *pebble.Comparer) bool {
	split := func(c *pebble.Comparer) uintptr { return reflect.ValueOf(c.Split).Pointer() }
	return split(c) == split(comparerOf(new(pebble.Options)))
}

// prefix returns the prefix of a table's bound, or all of it if Split panics. It may: bounds of
// range deletions need not be keys, and Pebble hardly ever calls it for them.
func (w wanted) prefix(bound []byte) (prefix []byte) {
	prefix = bound
	defer func() { _ = recover() }()
	return bound[:w.comparer.Split(bound)]
}

// isOld reports whether a table of a level lacks what new ones get. One that Pebble moved there
// from a level above may have the filter of that.
//
// The size of a filter tells the settings, given the number of keys: of the entries, those that are
// pinned may be older versions, and a key in millions has the hash of its neighbor.
func (w wanted) isOld(level int, t *pebble.SSTableInfo) bool {
	p, most := t.Properties, keysOf(t)
	if most == 0 || bytes.Equal(w.prefix(t.Smallest.UserKey), w.prefix(t.Largest.UserKey)) {
		return false // there are no keys for a filter, or none that it could exclude
	}
	least := 0
	if w.wholeKeys {
		least = max(0, most-most>>22-1-int(min(p.SnapshotPinnedKeys, math.MaxInt32)))
	}
	if p.FilterPolicyName == "" {
		return w.filters[level] != nil // otherwise a mark would save few reads
	}
	if _, marked := p.UserProperties[markName]; w.mark && !marked {
		return true
	}
	return !slices.ContainsFunc(w.filters[:level+1], func(f pebble.FilterPolicy) bool {
		ours, ok := f.(filterPolicy)
		return ok && ours.Name() == p.FilterPolicyName && isSize(ours, p.FilterSize, least, most)
	})
}

// newSize returns the size of the filter that an old table of a level will get.
func (w wanted) newSize(level int, t *pebble.SSTableInfo) uint64 {
	f, ok := w.filters[level].(filterPolicy)
	if !ok { // none, or not of this package
		return 0
	}
	return f.FilterSize(keysOf(t))
}

// keysOf returns how many keys a filter of a table has at most.
func keysOf(t *pebble.SSTableInfo) int {
	p := t.Properties
	return int(min(p.NumEntries-p.NumRangeDeletions, math.MaxInt32))
}

// isSize reports whether filters of least to most keys have a size. Up to 700 keys, one of more
// keys may be smaller: see Policy.FilterSize.
func isSize(f filterPolicy, size uint64, least, most int) bool {
	const few = 700
	for n := least; n <= min(most, few); n++ {
		if f.FilterSize(n) == size {
			return true
		}
	}
	return most > few && f.FilterSize(max(least, few+1)) <= size && size <= f.FilterSize(most)
}

// old returns the tables with keys from start to before end that lack what new ones get, and the
// others, both by their smallest keys. If start and end are nil, it looks at all.
func (w wanted) old(
	db *pebble.DB, start, end []byte,
) (old, others []pebble.SSTableInfo, err error) {
	levels, err := db.SSTables(pebble.WithProperties(), pebble.WithKeyRangeFilter(start, end))
	for level, tables := range levels {
		for _, t := range tables {
			if w.isOld(level, &t) {
				old = append(old, t)
			} else {
				others = append(others, t)
			}
		}
	}
	w.sort(old)
	w.sort(others)
	return old, others, err
}

// sort sorts tables by their smallest keys.
func (w wanted) sort(tables []pebble.SSTableInfo) {
	slices.SortFunc(tables, func(a, b pebble.SSTableInfo) int {
		return w.comparer.Compare(a.Smallest.UserKey, b.Smallest.UserKey)
	})
}
