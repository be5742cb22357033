package sstable

import "iter"

// WithMaxBytes lowers the 4 GiB that the filters of a block may have.
func WithMaxBytes(n uint64) FilterBlockOption {
	return filterBlockOption(func(b *FilterBlockBuilder) error {
		b.maxBytes = n
		return nil
	})
}

// MaxBytes is what the filters may have without WithMaxBytes.
func (b *FilterBlockBuilder) MaxBytes() uint64 { return b.maxBytes }

// A MetaEntry is an entry of the metaindex.
type MetaEntry struct {
	Name   string
	Handle BlockHandle
}

// Metaindex returns the entries of the metaindex in their order.
func (t *Table) Metaindex() (all []MetaEntry) {
	for _, e := range t.metaindex {
		all = append(all, MetaEntry{e.name, e.handle})
	}
	return all
}

// ReadBlock returns the contents of any block.
func (t *Table) ReadBlock(h BlockHandle) ([]byte, error) { return t.readBlock(h) }

// MetaEntries returns the keys and values of any block.
func (t *Table) MetaEntries(h BlockHandle) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		err := t.eachEntry(h, func(e *entries) error {
			yield(Entry{Key: e.key, Value: e.value}, nil)
			return nil
		})
		if err != nil {
			yield(Entry{}, t.fail(h.offset(), err))
		}
	}
}
