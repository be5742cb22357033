package sstable

// SetMaxBytes lowers the 4 GiB that the filters of a block may have.
func (b *FilterBlockBuilder) SetMaxBytes(n uint64) { b.maxBytes = n }

// MaxBytes is what the filters may have without SetMaxBytes.
func (b *FilterBlockBuilder) MaxBytes() uint64 { return b.maxBytes }

// ReadBlock returns the contents of any block.
func (t *Table) ReadBlock(h BlockHandle) ([]byte, error) {
	blocks := t.blocks
	return blocks.read(h)
}
