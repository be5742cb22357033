package tables

import (
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// levelDBTable is a table of C++ LevelDB or goleveldb.
type levelDBTable struct {
	tableFile
	table *sstable.Table
	info  Info
}

func openLevelDB(f tableFile, o Options) (Table, error) {
	opts := []sstable.TableOption{sstable.WithFileName(f.Name())}
	if o.Database {
		opts = append(opts, sstable.WithInternalKeys())
	}
	table, err := sstable.OpenTable(f, f.size, opts...)
	if err != nil {
		return nil, err
	}
	info := Info{Format: "LevelDB", Size: f.size, IndexBytes: table.IndexSize()}
	if table.KeysInDoubt() {
		info.Doubt = "its keys are internal by the data, and not by the index, as in tables that " +
			"leveldb.RecoverFile writes: pass their database"
	}
	t := &levelDBTable{f, table, info}
	return t, t.readFilters(o.Policies)
}

// readFilters reads the first filter block: no engine writes more.
func (t *levelDBTable) readFilters(patterns []string) error {
	entries := t.table.Filters()
	if len(entries) == 0 {
		return nil
	}
	block, err := t.table.OpenFilter(entries[0], policy.MayContain)
	if err != nil {
		return err
	}
	windows := block.Windows()
	f := filtersOf(entries[0].Policy, patterns, false)
	if entries[0].Foreign {
		t.info.Doubt = "its filters are those of Basho's LevelDB, not of C++ LevelDB"
	}
	if t.info.Doubt != "" {
		f.MayContain, f.Parse = nil, nil
	}
	f.Layout, f.BaseLg, f.Bytes = "window", windows.BaseLg(), int64(entries[0].Handle.Length)
	for i := range windows.NumFilters() {
		f.Each = append(f.Each, windows.Filter(i))
	}
	t.info.Filters = f
	return nil
}

func (t *levelDBTable) Info() *Info { return &t.info }

func (t *levelDBTable) Keys(f func(filter int, key []byte)) error {
	for e, err := range t.table.Entries() {
		if err != nil {
			return err
		}
		f(t.filterOf(e.Block), e.Key)
	}
	return nil
}

// filterOf returns the index of the filter that covers a data block, -1 if none does; in a table
// without filters, of the one that would, in windows of the default size.
func (t *levelDBTable) filterOf(block int) int {
	const defaultBaseLg = 11
	f, offset := t.info.Filters, t.table.Block(block).Offset
	if f == nil {
		return int(offset >> defaultBaseLg)
	}
	if window := offset >> f.BaseLg; window < uint64(len(f.Each)) {
		return int(window)
	}
	return -1
}
