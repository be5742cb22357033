package tables

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/sstable/colblk"
)

// colBlock is a block in the columnar layout of Pebble v5 and later, which Pebble's package colblk describes:
//
//	a header of the block's kind; version 1 (1 byte), number of columns (2), number of rows (4)
//	for each column: its type (1), the offset of its page (4)
//	pages; 1 byte
//
// Its methods accept nothing that Pebble's reader would misread: that follows the offsets with pointers, and trusts
// checksums.
type colBlock struct {
	data  []byte
	rows  int
	pages []int // offset of each column's page, and of the end
}

const colVersion = 1

// newColBlock takes a block with columns of these types apart.
func newColBlock(data []byte, header int, types ...colblk.DataType) (*colBlock, error) {
	size := int(colblk.HeaderSize(len(types), uint32(header)))
	if len(data) < size {
		return nil, fmt.Errorf("%d bytes are too few for %d columns", len(data), len(types))
	}
	at := data[header:]
	columns, rows := binary.LittleEndian.Uint16(at[1:]), binary.LittleEndian.Uint32(at[3:])
	if at[0] != colVersion || int(columns) != len(types) {
		return nil, fmt.Errorf("version %d with %d columns, not %d with %d", at[0], columns, colVersion, len(types))
	}
	// Rows differ in something, and that takes at least one byte of each.
	if uint64(rows) > uint64(len(data)) {
		return nil, fmt.Errorf("%d rows in %d bytes", rows, len(data))
	}
	b := &colBlock{data: data, rows: int(rows)}
	at = at[1+2+4:]
	last := uint32(size)
	for i, want := range types {
		kind, page := colblk.DataType(at[0]), binary.LittleEndian.Uint32(at[1:])
		if kind != want {
			return nil, fmt.Errorf("column %d has type %d, not %d", i, kind, want)
		}
		if page < last || uint64(page) > uint64(len(data)-1) {
			return nil, fmt.Errorf("the page of column %d begins at %d", i, page)
		}
		b.pages, last = append(b.pages, int(page)), page
		at = at[1+4:]
	}
	b.pages = append(b.pages, len(data)-1)
	return b, nil
}

// ends returns an error unless the page of a column ends at an offset.
func (b *colBlock) ends(col int, offset uint64) error {
	if offset != uint64(b.pages[col+1]) {
		return fmt.Errorf("column %d ends at %d, and the next begins at %d", col, offset, b.pages[col+1])
	}
	return nil
}

// colUints are integers: their width in bytes (0, 1, 2, 4 or 8; with the top bit set a base of 8 bytes follows, which is
// added to each), then, aligned to the width, the integers.
type colUints struct {
	base  uint64
	width int
	data  []byte
}

func (u colUints) at(i int) uint64 {
	switch u.width {
	case 0:
		return u.base
	case 1:
		return u.base + uint64(u.data[i])
	case 2:
		return u.base + uint64(binary.LittleEndian.Uint16(u.data[2*i:]))
	case 4:
		return u.base + uint64(binary.LittleEndian.Uint32(u.data[4*i:]))
	default:
		return u.base + binary.LittleEndian.Uint64(u.data[8*i:])
	}
}

// uintsAt returns n integers that are stored at an offset, and where they end.
func (b *colBlock) uintsAt(offset, n int) (u colUints, end int, err error) {
	if n == 0 {
		return u, offset, nil
	}
	short := errors.New("integers beyond the end of the block")
	limit := len(b.data) - 1
	if offset >= limit {
		return u, 0, short
	}
	encoding := colblk.UintEncoding(b.data[offset])
	if !encoding.IsValid() {
		return u, 0, fmt.Errorf("integers of encoding %#x", byte(encoding))
	}
	offset++
	if encoding.IsDelta() {
		if limit-offset < 8 {
			return u, 0, short
		}
		u.base = binary.LittleEndian.Uint64(b.data[offset:])
		offset += 8
	}
	u.width = encoding.Width()
	if u.width > 0 {
		offset = (offset + u.width - 1) / u.width * u.width
		if n > (limit-offset)/u.width {
			return u, 0, short
		}
	}
	end = offset + n*u.width
	u.data = b.data[offset:end]
	return u, end, nil
}

// uints returns the integers of a column.
func (b *colBlock) uints(col int) (colUints, error) {
	u, end, err := b.uintsAt(b.pages[col], b.rows)
	if err == nil {
		err = b.ends(col, uint64(end))
	}
	return u, err
}

// colBytes are byte strings: n+1 offsets, then the bytes.
type colBytes struct {
	offsets colUints
	data    []byte
}

func (s colBytes) at(i int) []byte { return s.data[s.offsets.at(i):s.offsets.at(i+1)] }

// bytesAt returns n byte strings that are stored at an offset up to the end of a column.
func (b *colBlock) bytesAt(col, offset, n int) (s colBytes, err error) {
	if n == 0 {
		return s, b.ends(col, uint64(offset))
	}
	offsets, start, err := b.uintsAt(offset, n+1)
	if err != nil {
		return s, err
	}
	if offsets.base != 0 || offsets.width == 8 {
		return s, errors.New("offsets of an encoding for other integers")
	}
	for i := range n {
		if offsets.at(i) > offsets.at(i+1) {
			return s, fmt.Errorf("byte string %d of column %d ends before it begins", i, col)
		}
	}
	if err := b.ends(col, uint64(start)+offsets.at(n)); err != nil {
		return s, err
	}
	return colBytes{offsets, b.data[start:b.pages[col+1]]}, nil
}

// bytes returns the byte strings of a column.
func (b *colBlock) bytes(col int) (colBytes, error) { return b.bytesAt(col, b.pages[col], b.rows) }

// bits returns the words of a column of bits, nil if all bits are 0. Behind the words is one bit for each of them.
func (b *colBlock) bits(col int) (words []byte, err error) {
	offset := b.pages[col]
	const stored, allZero = 0, 1
	switch encoding := b.data[offset]; encoding {
	case allZero:
		return nil, b.ends(col, uint64(offset)+1)
	case stored:
		n := (b.rows + 63) / 64
		offset = (offset + 1 + 7) / 8 * 8
		if err := b.ends(col, uint64(offset+8*(n+(n+63)/64))); err != nil {
			return nil, err
		}
		return b.data[offset:][:8*n], nil
	default:
		return nil, fmt.Errorf("bits of encoding %d", encoding)
	}
}

// colPrefixes are sorted byte strings, in bundles of 2^shift: a prefix of all, then for each bundle a prefix and what is
// left of each string. An empty rest stands for that of the string before.
type colPrefixes struct {
	shift  int
	shared int // length of the prefix of all, where the first piece begins
	pieces colBytes
}

// prefixes returns the byte strings of a column that is stored like this.
func (b *colBlock) prefixes(col int) (p colPrefixes, err error) {
	const maxShift = 16 // Pebble's bundles have 2^4
	offset := b.pages[col]
	if b.rows == 0 {
		return p, fmt.Errorf("column %d without rows", col)
	}
	p.shift = int(b.data[offset])
	if p.shift > maxShift {
		return p, fmt.Errorf("bundles of 2^%d rows", p.shift)
	}
	bundles := 1 + (b.rows-1)>>p.shift
	if p.pieces, err = b.bytesAt(col, offset+1, b.rows+bundles); err != nil {
		return p, err
	}
	p.shared = int(p.pieces.offsets.at(0))
	return p, nil
}

// maxLen returns the length of the longest string together with the one of others in the same row.
func (p colPrefixes) maxLen(rows int, others colBytes) int {
	longest, prefix, length := 0, 0, 0
	piece := 0
	for row := range rows {
		if row&(1<<p.shift-1) == 0 {
			prefix = p.shared + len(p.pieces.at(piece))
			length = prefix
			piece++
		}
		if rest := len(p.pieces.at(piece)); rest > 0 {
			length = prefix + rest
		}
		piece++
		longest = max(longest, length+len(others.at(row)))
	}
	return longest
}
