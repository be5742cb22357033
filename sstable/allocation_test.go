package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// A stored block, with its compression.
type storedBlock struct {
	stored      []byte
	compression byte
}

// tableOf returns a table of one data block, a metaindex and an index, whose bytes are any, and
// where they are.
func tableOf(data, metaindex, index storedBlock) (table []byte, blocks []sstable.BlockHandle) {
	for _, b := range []storedBlock{data, metaindex, index} {
		blocks = append(blocks,
			sstable.BlockHandle{Offset: uint64(len(table)), Length: uint64(len(b.stored))})
		table = append(table, withTrailer(b.stored, b.compression)...)
	}
	return append(table, footer(blocks[1], blocks[2])...), blocks
}

// rawBlock returns the block of these entries: keys, each followed by its value.
func rawBlock(entries ...[]byte) storedBlock {
	b := blockWriter{interval: 1}
	for i := 0; i < len(entries); i += 2 {
		b.add(entries[i], entries[i+1])
	}
	return storedBlock{b.finish(), raw}
}

// requireFailsCheaply reads a table, and demands an error that contains want, and that few bytes
// are allocated.
func requireFailsCheaply(t testing.TB, file []byte, factor int, want string) {
	t.Helper()
	before := allocated()
	err := readAll(t, bytes.NewReader(file), int64(len(file)))
	n := allocated() - before
	require.ErrorContains(t, err, want)
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
	require.Less(t, n, uint64(2<<20+factor*len(file)), "bytes allocated for a file of %d",
		len(file))
}

// requireBadBlock does so for a block as the data block, the metaindex and the index of a table.
func requireBadBlock(t testing.TB, b storedBlock, want string) {
	t.Helper()
	toData := rawBlock([]byte("k"),
		encodeHandle(sstable.BlockHandle{Length: uint64(len(b.stored))}))
	file, _ := tableOf(b, rawBlock(), toData)
	requireFailsCheaply(t, file, 8, "x.ldb: corrupt at offset 0: data block 0: "+want)
	file, _ = tableOf(rawBlock(), b, rawBlock())
	requireFailsCheaply(t, file, 8, "x.ldb: corrupt at offset 13: metaindex: "+want)
	file, _ = tableOf(rawBlock(), rawBlock(), b)
	requireFailsCheaply(t, file, 8, "x.ldb: corrupt at offset 26: index: "+want)
}

// Lengths that promise more than there is cost no memory, wherever in a block they stand,
// under valid checksums.
func TestLyingLengths(t *testing.T) {
	uvarint := func(n uint64, more int) []byte {
		return append(binary.AppendUvarint(nil, n), make([]byte, more)...)
	}
	for _, n := range []uint64{3000, 1 << 20, 1 << 30, math.MaxUint32} {
		requireBadBlock(t, storedBlock{uvarint(n, 100), snappied}, "snappy: ")
	}
	requireBadBlock(t, storedBlock{uvarint(30_000, 1000), snappied},
		"snappy: 1003 bytes cannot decode to 30000")
	requireBadBlock(t, storedBlock{uvarint(math.MaxUint64, 100), snappied}, "snappy: ")
	requireBadBlock(t, storedBlock{nil, snappied}, "snappy: ")
	// The length is possible, but a copy begins before the first byte.
	requireBadBlock(t, storedBlock{[]byte{8, 4<<2 | 1, 5}, snappied}, "snappy: ")

	for _, kind := range []byte{2, 3, 4, 7, 0x80, 0xff} {
		requireBadBlock(t, storedBlock{appendRestarts(nil, 0), kind}, "compression ")
	}
	requireBadBlock(t, storedBlock{[]byte{0xff, 0xff, 0xff, 0xff}, raw},
		"4294967295 restarts in a block of 4 bytes")
	longest := []byte("\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f")
	requireBadBlock(t, storedBlock{appendRestarts(longest, 0), raw},
		"the entry at 0 has 8589934590 bytes")
}

// A handle to much of a large file costs no memory, if the checksum there is wrong.
func TestLyingHandles(t *testing.T) {
	const size = 16 << 20
	begin := append(withTrailer(appendRestarts(nil, 0), raw), make([]byte, size)...)
	empty := sstable.BlockHandle{Length: 8}
	for _, length := range []uint64{1 << 20, 1<<20 + 1, size / 2, size} {
		lie := sstable.BlockHandle{Offset: 3, Length: length}
		for name, file := range map[string][]byte{
			"metaindex": slices.Concat(begin, footer(lie, empty)),
			"index":     slices.Concat(begin, footer(empty, lie)),
		} {
			before := allocated()
			_, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
			n := allocated() - before
			require.ErrorContains(t, err, name+": the block's checksum is")
			require.Less(t, n, uint64(3<<20), "bytes allocated, %s of %d", name, length)
		}
	}
}

// With a long key that every entry shares, few bytes become many: a table must not keep them all in
// memory.
func TestManyTimesTheSameKey(t *testing.T) {
	contents := appendEntry(nil, 0, bytes.Repeat([]byte("k"), 1<<18), []byte{0, 0})
	for i := range uint64(1 << 14) {
		h := sstable.BlockHandle{Offset: 5 * (i + 1)}
		contents = appendEntry(contents, 1<<18, nil, encodeHandle(h))
	}
	bomb := storedBlock{appendRestarts(contents, 0), raw}
	file, _ := tableOf(storedBlock{make([]byte, 1<<17), raw}, bomb, rawBlock())
	requireFailsCheaply(t, file, 100, "metaindex: ")
	file, _ = tableOf(storedBlock{make([]byte, 1<<17), raw}, rawBlock(), bomb)
	requireFailsCheaply(t, file, 100, "index: ")
}

// A block of more than 256 MiB is not read, whatever its compression.
func TestMaxBlockSize(t *testing.T) {
	const size = 1 << 33
	for _, length := range []uint64{256<<20 + 1, math.MaxInt32 - 4, math.MaxInt32, 3 << 30, 1 << 32} {
		end := footer(sstable.BlockHandle{Length: length}, sstable.BlockHandle{})
		f := offsetReader{end, size - int64(len(end))}
		_, err := sstable.OpenTable(f, size)
		require.ErrorIs(t, err, sstable.ErrTooLarge, "%d", length)
	}
	snappy := append(binary.AppendUvarint(nil, 256<<20+1), make([]byte, 13<<20)...)
	file, blocks := tableOf(storedBlock{snappy, snappied}, rawBlock(), rawBlock())
	_, err := openTable(t, file).ReadBlock(blocks[0])
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.ErrorContains(t, err, "268435457 bytes uncompressed, of at most 268435456")
}

// sharedKeys returns a block of one key and entries that are that key again.
func sharedKeys(keyLen, entries int) storedBlock {
	contents := appendEntry(nil, 0, make([]byte, keyLen), nil)
	for range entries - 1 {
		contents = appendEntry(contents, keyLen, nil, nil)
	}
	return storedBlock{appendRestarts(contents, 0), raw}
}

// tableOfData returns a table of one data block.
func tableOfData(data storedBlock) []byte {
	file, _ := tableOf(data, rawBlock(), rawBlock([]byte("\xff"),
		encodeHandle(sstable.BlockHandle{Length: uint64(len(data.stored))})))
	return file
}

// Keys that share all bytes of the one before add up to the square of the block's size. They are
// refused when they have added up to 256 times that size, or to 256 MiB.
func TestKeysThatAddUp(t *testing.T) {
	const keyLen, entries = 1 << 16, 1 << 14 // 1 GiB of keys
	data := sharedKeys(keyLen, entries)
	table := openTable(t, tableOfData(data), sstable.WithKeys(sstable.PlainKeys))
	size := len(data.stored) - 8 // without the restart
	read := 256 * size / keyLen
	err := entriesError(t, table, read)
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.EqualError(t, err, fmt.Sprintf("sstable: corrupt at offset 0: data block 0: "+
		"the keys add up to %d bytes, more than 256 times the block's %d", (read+1)*keyLen, size))

	file := tableOfData(sharedKeys(1<<20+1, 256))
	err = entriesError(t, openTable(t, file, sstable.WithKeys(sstable.PlainKeys)), 255)
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.ErrorContains(t, err, "the keys add up to 268435712 bytes, of at most 268435456")
}

// The keys of real blocks never reach these bounds, however much they share: with a restart for
// every 256 of them, and with only one if they are short. In the metaindex, whose keys are kept,
// there must be one for every 16.
func TestKeysThatMayAddUp(t *testing.T) {
	for _, c := range []struct{ keyLen, interval, entries int }{
		{10_000, 256, 2000}, {700, 1 << 20, 5000},
	} {
		data := blockWriter{interval: c.interval}
		for range c.entries {
			data.add(make([]byte, c.keyLen), nil)
		}
		table := openTable(t, tableOfData(storedBlock{data.finish(), raw}))
		require.NoError(t, entriesError(t, table, c.entries))
	}
	var metas []metaBlock
	for i := range 64 {
		metas = append(metas, metaBlock{fmt.Sprintf("filter.%s%02d", strings.Repeat("k", 10_000), i), nil})
	}
	file, _ := writeTable(t, tableOptions{interval: 16, meta: metas})
	require.Len(t, openTable(t, file).Filters(), 64)
}
