package tables

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// levelDBTable is a table of C++ LevelDB or goleveldb.
type levelDBTable struct {
	file  *os.File
	dir   string
	table *sstable.Table
	info  Info
}

func openLevelDB(path string, file *os.File, size int64, bloom []string) (Table, error) {
	table, err := sstable.OpenTable(file, size, sstable.WithFileName(path))
	var other *sstable.FormatError
	if errors.As(err, &other) {
		return nil, &UnsupportedError{path, other.Format,
			"it has LevelDB's magic number, but RocksDB's properties"}
	}
	if err != nil {
		return nil, err
	}
	info := Info{Format: "LevelDB", Size: size, IndexBytes: table.IndexSize()}
	t := &levelDBTable{file, filepath.Dir(path), table, info}
	return t, t.openFilter(bloom)
}

// openFilter opens the filter that chooseFilter chooses.
func (t *levelDBTable) openFilter(bloom []string) error {
	entries := t.table.Filters()
	if len(entries) == 0 {
		return nil
	}
	handle, f := chooseFilter(entries, knownFilters(bloom))
	filter, err := t.table.OpenFilter(sstable.FilterEntry{Handle: handle}, policy.MayContain)
	if err != nil {
		return err
	}
	windows := filter.Windows()
	f.Layout, f.BaseLg, f.Bytes = PerWindow, windows.BaseLg(), int64(handle.Length)
	for i := range windows.NumFilters() {
		f.Each = append(f.Each, windows.Filter(i))
	}
	t.info.Filters = f
	return nil
}

func (t *levelDBTable) Info() *Info { return &t.info }

func (t *levelDBTable) Keys(f func(filter int, key []byte) error) error {
	filter, block := -1, -1
	for e, err := range t.table.Entries() {
		if errors.Is(err, sstable.ErrIndexOrder) && !isBytewise(t.dir) {
			return nil // the index may be right for another comparer
		}
		if err != nil {
			return err
		}
		if e.Block != block {
			block = e.Block
			filter = t.filterOf(block)
		}
		if err := f(filter, e.Key); err != nil {
			return err
		}
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

func (t *levelDBTable) Seek(key []byte) (found []byte, blocks int, err error) {
	const most = 2 // goleveldb reads the next block too if key is beyond the first block's keys
	first, ok := t.table.FindBlock(key)
	for block := first; ok && block < min(first+most, t.table.Blocks()); block++ {
		blocks++
		for e, err := range t.table.BlockEntries(block) {
			if err != nil {
				return nil, 0, err
			}
			if bytes.Compare(e.Key, key) >= 0 {
				return bytes.Clone(e.Key), blocks, nil
			}
		}
	}
	return nil, blocks, nil
}

func (t *levelDBTable) Window(key []byte, f func(key []byte)) error {
	block, ok := t.table.FindBlock(key)
	if !ok {
		return nil
	}
	window := t.filterOf(block)
	for block > 0 && t.filterOf(block-1) == window {
		block--
	}
	for ; block < t.table.Blocks() && t.filterOf(block) == window; block++ {
		for e, err := range t.table.BlockEntries(block) {
			if err != nil {
				return err
			}
			f(e.Key)
		}
	}
	return nil
}

func (t *levelDBTable) Locate(key []byte) int {
	if block, ok := t.table.FindBlock(key); ok {
		return t.filterOf(block)
	}
	return -1
}

func (t *levelDBTable) Close() error { return t.file.Close() }
