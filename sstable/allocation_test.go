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
		blocks = append(blocks, sstable.BlockHandle{Offset: uint64(len(table)), Length: uint64(len(b.stored))})
		table = append(table, withTrailer(b.stored, b.compression)...)
	}
	return append(table, footer(blocks[1], blocks[2])...), blocks
}

// rawBlock returns the block of these entries: keys and values by turns.
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
	require.Less(t, n, uint64(2<<20+factor*len(file)), "bytes allocated for a file of %d", len(file))
}

// requireBadBlock does so for a block as the data block, the metaindex and the index of a table.
func requireBadBlock(t testing.TB, b storedBlock, want string) {
	t.Helper()
	toData := rawBlock([]byte("k"), encodeHandle(sstable.BlockHandle{Length: uint64(len(b.stored))}))
	file, _ := tableOf(b, rawBlock(), toData)
	requireFailsCheaply(t, file, 8, "x.ldb: corrupt at offset 0: data block 0: "+want)
	file, _ = tableOf(rawBlock(), b, rawBlock())
	requireFailsCheaply(t, file, 8, "x.ldb: corrupt at offset 13: metaindex: "+want)
	file, _ = tableOf(rawBlock(), rawBlock(), b)
	requireFailsCheaply(t, file, 8, "x.ldb: corrupt at offset 26: index: "+want)
}

// Lengths that promise more than there is cost no memory, whatever part of a block tells them,
// under valid checksums.
func TestLyingLengths(t *testing.T) {
	uvarint := func(n uint64, more int) []byte { return append(binary.AppendUvarint(nil, n), make([]byte, more)...) }
	for _, n := range []uint64{3000, 1 << 20, 1 << 30, math.MaxUint32} {
		requireBadBlock(t, storedBlock{uvarint(n, 100), snappied}, "snappy: ")
	}
	requireBadBlock(t, storedBlock{uvarint(30_000, 1000), snappied}, "snappy: 1003 bytes cannot decode to 30000")
	requireBadBlock(t, storedBlock{uvarint(1<<32, 100), snappied}, "snappy: ")
	requireBadBlock(t, storedBlock{uvarint(math.MaxUint64, 100), snappied}, "snappy: ")
	requireBadBlock(t, storedBlock{uvarint(1<<31, 1<<20), snappied}, "snappy: ")
	requireBadBlock(t, storedBlock{nil, snappied}, "snappy: ")

	// zstd frames: magic number, 8 bytes of content size in a single segment, blocks.
	frame := func(size uint64, blocks ...byte) storedBlock {
		b := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, binary.LittleEndian.AppendUint64(nil, size)...)
		return storedBlock{append(b, blocks...), zstded}
	}
	repeated := []byte{0x02 | 1, 0x00, 0x10, 'x'} // the last block: 128 KiB of one byte
	compressed := []byte{0x04 | 1, 0x00, 0x00}    // the last block, which may become 128 KiB too
	tooMuch := []byte{0x02 | 1, 0xff, 0xff, 'x'}  // a byte that is repeated more often than the format allows
	for _, size := range []uint64{128<<10 + 1, 1 << 20, 1 << 30, 1 << 32, 1 << 40, 1 << 62, 1 << 63, math.MaxUint64} {
		for name, blocks := range map[string][]byte{
			"no block": nil, "repeated": repeated, "behind the last": slices.Concat(repeated, repeated), "compressed": compressed, "too much": tooMuch,
			"raw, of no bytes": make([]byte, 4096), "many of them": make([]byte, 1<<20), "half a header": {0x02, 0x00},
		} {
			t.Log(name)
			requireBadBlock(t, frame(size, blocks...), fmt.Sprintf("zstd: %d bytes cannot decode to %d", 13+len(blocks), size))
		}
	}
	requireBadBlock(t, frame(128<<10, compressed...), "zstd: ") // it could
	requireBadBlock(t, storedBlock{[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 1, 0, 0}, zstded}, "zstd: a frame without its length")
	requireBadBlock(t, storedBlock{[]byte{0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff}, zstded}, "zstd: ")
	requireBadBlock(t, storedBlock{[]byte("not zstd at all"), zstded}, "zstd: ")
	requireBadBlock(t, storedBlock{nil, zstded}, "zstd: ")
	// A window of 3.75 TiB.
	requireBadBlock(t, storedBlock{[]byte{0x28, 0xb5, 0x2f, 0xfd, 0x80, 0xff, 100, 0, 0, 0, 1, 0, 0}, zstded}, "zstd: ")

	for _, kind := range []byte{3, 4, 7, 0x80, 0xff} {
		requireBadBlock(t, storedBlock{appendRestarts(nil, 0), kind}, "compression ")
	}
	requireBadBlock(t, storedBlock{[]byte{0xff, 0xff, 0xff, 0xff}, raw}, "4294967295 restarts in a block of 4 bytes")
	requireBadBlock(t, storedBlock{slices.Concat([]byte("\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f"), appendRestarts(nil, 0)), raw}, "the entry at 0 has 8589934590 bytes")
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

// Keys that 16 entries share, as the blocks of all engines may have them, are no such lie.
func TestKeysThatShare(t *testing.T) {
	long := strings.Repeat("k", 10_000)
	var metas []metaBlock
	for i := range 64 {
		metas = append(metas, metaBlock{fmt.Sprintf("%s%02d", long, i), nil})
	}
	file, _ := writeTable(t, tableOptions{interval: 16, meta: metas})
	require.Len(t, openTable(t, file).Metaindex(), 64)
}

// A long key that every entry shares makes of few bytes many: a table shall not keep them all in
// memory.
func TestManyTimesTheSameKey(t *testing.T) {
	contents := appendEntry(nil, 0, bytes.Repeat([]byte("k"), 1<<18), []byte{0, 0})
	for i := range 1 << 14 {
		contents = appendEntry(contents, 1<<18, nil, binary.AppendUvarint([]byte{byte(5*i+5)&0x7f | 0x80, byte((5*i+5)>>7&0x7f) | 0x80, byte((5*i + 5) >> 14)}, 0))
	}
	bomb := storedBlock{appendRestarts(contents, 0), raw}
	file, _ := tableOf(storedBlock{make([]byte, 1<<17), raw}, bomb, rawBlock())
	requireFailsCheaply(t, file, 100, "metaindex: ")
	file, _ = tableOf(storedBlock{make([]byte, 1<<17), raw}, rawBlock(), bomb)
	requireFailsCheaply(t, file, 100, "index: ")
}
