package verify

import (
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// openLevelDB opens a table of C++ LevelDB or goleveldb.
func openLevelDB(file tableFile, f File) (*table, error) {
	opts := []sstable.TableOption{sstable.WithFileName(file.Name())}
	if f.Database {
		opts = append(opts, sstable.WithInternalKeys())
	}
	source, err := sstable.OpenTable(file, file.size, opts...)
	if err != nil {
		return nil, err
	}
	t := &table{size: file.size, indexBytes: source.IndexSize(), close: file.Close}
	if source.KeysInDoubt() {
		t.doubt = "its keys are internal by the data, and not by the index, as in tables that " +
			"leveldb.RecoverFile writes: pass their database"
	}
	baseLg := 11 // the default: of the windows that filters would have
	if entries := source.Filters(); len(entries) > 0 {
		if baseLg, err = t.readFilters(source, entries[0]); err != nil {
			return nil, err
		}
	}
	t.keys = func(f func(filter int, key []byte)) error {
		for e, err := range source.Entries() {
			if err != nil {
				return err
			}
			window := source.Block(e.Block).Offset >> baseLg
			if t.filters != nil && window >= uint64(len(t.filters.each)) {
				f(-1, e.Key)
			} else {
				f(int(window), e.Key)
			}
		}
		return nil
	}
	return t, nil
}

// readFilters reads the first filter block: no engine writes more. It returns the logarithm of the
// size of its windows.
func (t *table) readFilters(source *sstable.Table, entry sstable.FilterEntry) (baseLg int, err error) {
	block, err := source.OpenFilter(entry, policy.MayContain)
	if err != nil {
		return 0, err
	}
	t.filters = filtersOf(entry.Policy, false)
	t.filters.bytes = int64(entry.Handle.Length)
	windows := block.Windows()
	for i := range windows.NumFilters() {
		t.filters.each = append(t.filters.each, windows.Filter(i))
	}
	if entry.Foreign {
		t.doubt = "its filters are those of Basho's LevelDB, not of C++ LevelDB"
	}
	return windows.BaseLg(), nil
}
