package engine

import (
	"os"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// tableFilters describes the filters of a table in LevelDB's format.
type tableFilters struct {
	blockBytes int64   // the filter block
	filters    []int64 // the bytes of each filter that is not empty
	keys       int64   // all entries of the table, if it has filters
}

// readTableFilters reads a table's filters, since goleveldb does not say how large they are.
func readTableFilters(path string) (t tableFilters, err error) {
	file, err := os.Open(path)
	if err != nil {
		return t, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return t, err
	}
	table, err := sstable.OpenTable(file, info.Size(), sstable.WithFileName(path))
	if err != nil {
		return t, err
	}
	anyPolicy, err := policy.NewBloom(10) // the filters are counted, not asked
	if err != nil {
		return t, err
	}
	for _, entry := range table.Filters() {
		if entry.Whole { // goleveldb neither writes nor asks such filters
			continue
		}
		filter, err := table.OpenFilter(entry, anyPolicy)
		if err != nil {
			return t, err
		}
		t.blockBytes += int64(entry.Handle.Length)
		for i := range filter.Windows().NumFilters() {
			if n := len(filter.Windows().Filter(i)); n > 0 {
				t.filters = append(t.filters, int64(n))
			}
		}
	}
	if t.blockBytes == 0 {
		return t, nil
	}
	for _, err := range table.Entries() {
		if err != nil {
			return t, err
		}
		t.keys++
	}
	return t, nil
}
