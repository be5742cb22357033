package pebblev2

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Why Rewrite must not write to a database.

// check returns why Rewrite must not put its entries over tables. Pebble asks the program about
// them in the background, and if the answer is an error, can neither flush them nor open the
// database again. So check asks first.
func (w wanted) check(db *pebble.DB, tables []pebble.SSTableInfo) error {
	if w.options.ReadOnly {
		return pebble.ErrReadOnly
	}
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
	ranges := w.ranges(tables)
	return w.findPlain(db, ranges[0].Start, ranges[len(ranges)-1].End)
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
