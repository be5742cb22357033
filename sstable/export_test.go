package sstable

// WithMaxBytes lowers the 4 GiB that the filters of a block may have.
func WithMaxBytes(n uint64) FilterBlockOption {
	return func(b *FilterBlockBuilder) error {
		b.maxBytes = n
		return nil
	}
}

// MaxBytes is what the filters may have without WithMaxBytes.
func (b *FilterBlockBuilder) MaxBytes() uint64 { return b.maxBytes }

// ReadBlock returns the contents of any block.
func (t *Table) ReadBlock(h BlockHandle) ([]byte, error) {
	blocks := t.blocks
	return blocks.read(h)
}
