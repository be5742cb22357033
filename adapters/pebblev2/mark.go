package pebblev2

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// markName is the name of the mark among a table's properties.
const markName = "levelbloom.probe"

// mark is a BlockPropertyCollector that says one thing of each table: a probe may exclude its
// blocks. It gives the table a property of one byte, and the blocks none, so that indexes stay as
// they are. Pebble consults a BlockPropertyFilter about a block only if the table carries a
// property of the filter's name.
//
// The mark says nothing about keys and stays true whatever becomes of them, or of their suffixes.
type mark struct{}

// These methods, and those in version.go, implement pebble.BlockPropertyCollector. FinishTable
// gives the table its property. Any byte will do: see probe.Intersects.

func (mark) Name() string                                { return markName }
func (mark) FinishDataBlock(buf []byte) ([]byte, error)  { return buf, nil }
func (mark) AddPrevDataBlockToIndexBlock()               {}
func (mark) FinishIndexBlock(buf []byte) ([]byte, error) { return buf, nil }
func (mark) FinishTable(buf []byte) ([]byte, error)      { return append(buf, 1), nil }

// maxMarkedIndexBlock is the largest size of index blocks, in bytes, with which tables get the
// mark. Pebble passes over each block that a probe excludes, up to the end of the index block.
const maxMarkedIndexBlock = 16 << 10

// withMark returns o's collectors, after the mark if tables written with o may have it. The mark is
// first because Pebble decodes the properties of a block up to the one that it needs. The slice is
// a new one, because other options may share the old one.
func withMark(o *pebble.Options) ([]func() pebble.BlockPropertyCollector, error) {
	collectors := []func() pebble.BlockPropertyCollector{
		func() pebble.BlockPropertyCollector { return mark{} },
	}
	for _, collector := range o.BlockPropertyCollectors {
		if collector == nil {
			return nil, errors.New("pebblev2: a block property collector is nil: leave it out")
		}
		if collector().Name() != markName {
			collectors = append(collectors, collector)
		}
	}
	if lacksMark(o) != nil {
		return collectors[1:], nil
	}
	if n := len(collectors); n > maxCollectors {
		return nil, fmt.Errorf("pebblev2: %d block property collectors: Pebble has room for %d "+
			"beside its own and that of Configure", n-1, maxCollectors-1)
	}
	return collectors, nil
}

// lacksMark returns why tables written with o cannot have the mark, or nil.
func lacksMark(o *pebble.Options) error {
	if !storesProperties(o) {
		return errors.New("no new table gets the mark, so Has reads more: set FormatMajorVersion to " +
			"pebble.FormatRangeKeys or a newer one, also if the database has it already")
	}
	if size := largestIndexBlock(o); size > maxMarkedIndexBlock {
		return fmt.Errorf("no new table gets the mark, because index blocks of %d bytes are larger than "+
			"%d, so Has reads a block for each version of a present key: set IndexBlockSize, which is "+
			"BlockSize unless set", size, maxMarkedIndexBlock)
	}
	return nil
}
