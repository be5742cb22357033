package tables

import (
	"encoding/binary"
	"errors"
	"fmt"

	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/sstable/rowblk"
)

// checkKeys walks through the index and the data blocks as Pebble's reader will, and returns an error if it would not end
// well: that trusts what it reads, and panics or worse on what it should not trust.
func (t *pebbleTable) checkKeys() error {
	index, err := t.handles(t.footer.index)
	if err != nil {
		return err
	}
	if t.twoLevels {
		for _, h := range index {
			part, err := t.handles(h)
			if err != nil {
				return err
			}
			if err := t.checkData(part); err != nil {
				return err
			}
		}
		return nil
	}
	return t.checkData(index)
}

func (t *pebbleTable) checkData(handles []block.Handle) error {
	for _, h := range handles {
		contents, err := t.blocks.read(h)
		if err != nil {
			return err
		}
		switch {
		case t.footer.format.BlockColumnar():
			err = checkColumns(contents)
		case t.footer.rocksDB && hasHashIndex(contents):
			return t.blocks.unsupported("data blocks have hash indexes, which Pebble's reader does not know")
		default:
			err = checkRows(contents, t.footer.format >= pebblesst.TableFormatPebblev3)
		}
		if err != nil {
			return t.blocks.corrupt(h.Offset, fmt.Errorf("data block: %w", err))
		}
	}
	return nil
}

// handles returns the handles in an index block.
func (t *pebbleTable) handles(h block.Handle) (handles []block.Handle, err error) {
	contents, err := t.blocks.read(h)
	if err != nil {
		return nil, err
	}
	if t.footer.format.BlockColumnar() {
		handles, err = columnHandles(contents)
	} else {
		handles, err = rowHandles(contents)
	}
	if err != nil {
		return nil, t.blocks.corrupt(h.Offset, fmt.Errorf("index: %w", err))
	}
	return handles, nil
}

func rowHandles(contents []byte) (handles []block.Handle, err error) {
	err = walkRows(contents, func(key, value []byte) error {
		h, n := decodeHandle(value) // what follows are properties of the block
		if n == 0 || len(key) < internalTrailer {
			return errors.New("not an internal key with a block handle")
		}
		handles = append(handles, h)
		return nil
	})
	return handles, err
}

func columnHandles(contents []byte) ([]block.Handle, error) {
	b, err := newColBlock(contents, 0, colblk.DataTypeBytes, colblk.DataTypeUint, colblk.DataTypeUint, colblk.DataTypeBytes)
	if err != nil {
		return nil, err
	}
	_, err = b.bytes(0) // separators
	if err != nil {
		return nil, err
	}
	offsets, err := b.uints(1)
	if err != nil {
		return nil, err
	}
	lengths, err := b.uints(2)
	if err != nil {
		return nil, err
	}
	if _, err := b.bytes(3); err != nil { // properties
		return nil, err
	}
	handles := make([]block.Handle, b.rows)
	for i := range handles {
		handles[i] = block.Handle{Offset: offsets.at(i), Length: lengths.at(i)}
	}
	return handles, nil
}

const (
	internalTrailer = 8                               // kind and sequence number, behind the user key
	obsolete        = byte(rowblk.TrailerObsoleteBit) // a flag in the kind
)

// hasHashIndex reports whether a data block has one of RocksDB's: the top bit of the number of restarts says so.
func hasHashIndex(contents []byte) bool {
	return len(contents) > 0 && contents[len(contents)-1]&0x80 != 0
}

// checkRows checks a data block of rows. Since Pebble v3 the value of a set has a prefix, which may say that the rest is the
// handle of the real value.
func checkRows(contents []byte, prefixed bool) error {
	return walkRows(contents, func(key, value []byte) error {
		if len(key) < internalTrailer {
			return fmt.Errorf("an internal key of %d bytes", len(key))
		}
		kind := key[len(key)-internalTrailer] &^ obsolete
		if !prefixed || kind != byte(pebblesst.InternalKeyKindSet) {
			return nil
		}
		if len(value) > 0 && block.ValuePrefix(value[0]).IsInPlaceValue() {
			return nil
		}
		return checkValueHandle(value)
	})
}

// checkValueHandle checks the part of a value's handle that Pebble's reader decodes whether the value is wanted or not.
func checkValueHandle(value []byte) error {
	if len(value) == 0 {
		return errors.New("a value without its prefix")
	}
	numbers := 1 // the value's length
	switch prefix := block.ValuePrefix(value[0]); {
	case prefix.IsBlobValueHandle():
		numbers = 2 // the number of the file, the value's length
	case !prefix.IsValueBlockHandle():
		return fmt.Errorf("a value of kind %#x", value[0])
	}
	rest := value[1:]
	for range numbers {
		_, n := uvarint32(rest)
		if n == 0 {
			return errors.New("a bad handle of a value")
		}
		rest = rest[n:]
	}
	return nil
}

// maxKeyLen bounds what Pebble's reader allocates for a key. Its databases take keys of any length below 4 GiB in principle;
// longer ones than this are more likely a wrong number.
const maxKeyLen = 64 << 20

// checkColumns checks a data block of columns, with the key in two of them: the prefix that Split returns, and the rest.
func checkColumns(contents []byte) error {
	const header = 4 // length of the longest key
	b, err := newColBlock(contents, header, colblk.DataTypePrefixBytes, colblk.DataTypeBytes, colblk.DataTypeUint,
		colblk.DataTypeBool, colblk.DataTypeBytes, colblk.DataTypeBool, colblk.DataTypeBool)
	if err != nil {
		return err
	}
	prefixes, err := b.prefixes(0)
	if err != nil {
		return err
	}
	suffixes, err := b.bytes(1)
	if err != nil {
		return err
	}
	longest, announced := uint64(prefixes.maxLen(b.rows, suffixes)), uint64(binary.LittleEndian.Uint32(contents))
	// What is announced may be the key that began the next block, since it found no room in this one.
	if longest > announced || announced > maxKeyLen {
		return fmt.Errorf("%d bytes announced for the longest key, which has %d", announced, longest)
	}
	if _, err := b.uints(2); err != nil { // sequence numbers and kinds
		return err
	}
	if _, err := b.bits(3); err != nil { // whether the prefix changes
		return err
	}
	values, err := b.bytes(4)
	if err != nil {
		return err
	}
	external, err := b.bits(5) // whether the value is elsewhere
	if err != nil {
		return err
	}
	if _, err := b.bits(6); err != nil { // whether the entry is obsolete
		return err
	}
	for row := range b.rows {
		if external != nil && external[row/8]>>(row%8)&1 == 1 {
			if err := checkValueHandle(values.at(row)); err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
		}
	}
	return nil
}
