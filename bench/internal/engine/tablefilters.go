package engine

import (
	"os"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// tableFilters describes the filters of tables in LevelDB's format.
type tableFilters struct {
	blockBytes int64   // the filter blocks
	filters    []int64 // the bytes of each filter that is not empty
	keys       int64   // all entries of tables that have filters
}

// read adds the filters of one table. goleveldb does not say how large they are.
func (t *tableFilters) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	table, err := sstable.OpenTable(file, info.Size(), sstable.WithFileName(path))
	if err != nil {
		return err
	}
	anyPolicy, err := policy.NewBloom(10) // the filters are counted, not asked
	if err != nil {
		return err
	}
	hasFilters := false
	for _, entry := range table.Filters() {
		if entry.Whole { // goleveldb neither writes nor asks such filters
			continue
		}
		filter, err := table.OpenFilter(entry, anyPolicy)
		if err != nil {
			return err
		}
		hasFilters = true
		t.blockBytes += int64(entry.Handle.Length)
		for i := range filter.Windows().NumFilters() {
			if n := len(filter.Windows().Filter(i)); n > 0 {
				t.filters = append(t.filters, int64(n))
			}
		}
	}
	if !hasFilters {
		return nil
	}
	for _, err := range table.Entries() {
		if err != nil {
			return err
		}
		t.keys++
	}
	return nil
}
