package sstable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// Tests of what reading may cost, in memory and in time.

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
	for _, n := range []uint64{3000, math.MaxUint32, math.MaxUint64} {
		lie := append(binary.AppendUvarint(nil, n), make([]byte, 100)...)
		requireBadBlock(t, storedBlock{lie, snappied}, "snappy: ")
	}
	requireBadBlock(t, storedBlock{append([]byte{0xb0, 0xea, 1}, make([]byte, 1000)...), snappied},
		"snappy: 1003 bytes cannot decode to 30000")
	requireBadBlock(t, storedBlock{nil, snappied}, "snappy: ")
	// The length is possible, but a copy begins before the first byte.
	requireBadBlock(t, storedBlock{[]byte{8, 4<<2 | 1, 5}, snappied}, "snappy: ")

	for _, kind := range []byte{2, 0xff} {
		requireBadBlock(t, storedBlock{appendRestarts(nil, 0), kind}, "unknown compression ")
	}
	requireBadBlock(t, storedBlock{[]byte{0xff, 0xff, 0xff, 0xff}, raw},
		"4294967295 restarts in a block of 4 bytes")
	longest := []byte("\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f")
	requireBadBlock(t, storedBlock{appendRestarts(longest, 0), raw},
		"the entry at 0 has 8589934590 bytes")
}

// A block that compresses as well as its format allows is read: one literal, and copies of 64 bytes
// from the byte before.
func TestBestCompression(t *testing.T) {
	best := append(binary.AppendUvarint(nil, 1<<20+1), 0, 0)
	for range 1 << 20 / 64 {
		best = append(best, 63<<2|2, 1, 0)
	}
	file, blocks := tableOf(storedBlock{best, snappied}, rawBlock(), rawBlock())
	block, err := openTable(t, file).ReadBlock(blocks[0])
	require.NoError(t, err)
	require.Equal(t, make([]byte, 1<<20+1), block)
}

// A handle to much of a large file costs no memory, if the checksum there is wrong.
func TestLyingHandles(t *testing.T) {
	const size = 16 << 20
	file := append(make([]byte, size),
		footer(sstable.BlockHandle{Offset: 3, Length: size - 8}, sstable.BlockHandle{Length: 8})...)
	requireFailsCheaply(t, file, 0, "metaindex: the block's checksum is")
}

// A block of more than 256 MiB is not read, whatever its compression.
func TestMaxBlockSize(t *testing.T) {
	const size = 1 << 33
	for _, length := range []uint64{256 << 20, 256<<20 + 1, math.MaxInt32, 1 << 32} {
		end := footer(sstable.BlockHandle{Length: length}, sstable.BlockHandle{})
		_, err := sstable.OpenTable(without(size-int64(len(end)), end), size)
		require.Error(t, err) // that of reading, if the length is allowed
		require.Equal(t, length > 256<<20, errors.Is(err, sstable.ErrTooLarge), "%d", length)
	}
	snappy := append(binary.AppendUvarint(nil, 256<<20+1), make([]byte, 13<<20)...)
	file, blocks := tableOf(storedBlock{snappy, snappied}, rawBlock(), rawBlock())
	_, err := openTable(t, file).ReadBlock(blocks[0])
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.ErrorContains(t, err, "268435457 bytes uncompressed, of at most 268435456")
}

// sharedKeys returns a block of keys of zeros, with a restart for some of them, and values
// that are handles of blocks without bytes, one after the other.
func sharedKeys(keyLen, interval, entries int) storedBlock {
	var contents []byte
	var restarts []int
	for i := range entries {
		value := encodeHandle(sstable.BlockHandle{Offset: 5 * uint64(i)})
		if i%interval == 0 {
			restarts = append(restarts, len(contents))
			contents = appendEntry(contents, 0, make([]byte, keyLen), value)
		} else {
			contents = appendEntry(contents, keyLen, nil, value)
		}
	}
	return storedBlock{appendRestarts(contents, restarts...), raw}
}

// Keys that share all bytes of the one before add up to the square of the block's size. They are
// refused when they have added up to 256 times that size, or to 256 MiB, and in the metaindex and
// the index, which are kept in memory, when they have added up to 16 times that size.
func TestKeysThatAddUp(t *testing.T) {
	const keyLen, entries = 1 << 16, 1 << 14 // 1 GiB of keys
	data := sharedKeys(keyLen, entries, entries)
	table := openTable(t, tableOfData(data))
	size := len(data.stored) - 8 // without the restart
	read := 256 * size / keyLen
	err := entriesError(t, table, read)
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.EqualError(t, err, fmt.Sprintf("sstable: corrupt at offset 0: data block 0: "+
		"a block that is too large: its keys add up to %d bytes, more than 256 times its %d",
		(read+1)*keyLen, size))

	file := tableOfData(sharedKeys(1<<20+1, 256, 256))
	err = entriesError(t, openTable(t, file), 255)
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.ErrorContains(t, err, "its keys add up to 268435712 bytes, of at most 268435456")

	kept, data := sharedKeys(10_000, 20, 20), storedBlock{make([]byte, 100), raw}
	file, _ = tableOf(data, kept, rawBlock())
	requireFailsCheaply(t, file, 100, "metaindex: ")
	file, _ = tableOf(data, rawBlock(), kept)
	requireFailsCheaply(t, file, 100, "index: ")
}

// The keys of real blocks never reach these bounds, however much they share: with a restart for
// every 256 of them, and with only one if they are short. In the metaindex, whose keys are kept,
// there must be one for every 16.
func TestKeysThatMayAddUp(t *testing.T) {
	for _, c := range []struct{ keyLen, interval, entries int }{
		{10_000, 256, 2000}, {1500, 1 << 20, 5000},
	} {
		table := openTable(t, tableOfData(sharedKeys(c.keyLen, c.interval, c.entries)))
		require.NoError(t, entriesError(t, table, c.entries))
	}
	file, _ := tableOf(storedBlock{make([]byte, 500), raw}, sharedKeys(10_000, 16, 64), rawBlock())
	openTable(t, file)
}

// tableOfData returns a table of one data block.
func tableOfData(data storedBlock) []byte {
	file, _ := tableOf(data, rawBlock(), rawBlock([]byte("\xff"),
		encodeHandle(sstable.BlockHandle{Length: uint64(len(data.stored))})))
	return file
}

// The buffers for blocks serve for all blocks, and an open table keeps only its index: 48 bytes
// here for each data block, while slices that grow need some times as much.
func TestMemory(t *testing.T) {
	for _, compression := range []byte{raw, snappied} {
		w := newTableWriter(tableOptions{blockSize: 1, compression: compression}, 0)
		const n = 200
		for i := range n {
			w.add(fmt.Appendf(nil, "a key of 24 bytes, %05d", i), make([]byte, 60_000-i))
		}
		w.finish()
		before := allocated()
		table := openTable(t, w.file)
		require.Less(t, allocated()-before, uint64(48*n*8+256<<10), "bytes allocated to open")
		before = allocated()
		require.NoError(t, entriesError(t, table, n))
		require.Less(t, allocated()-before, uint64(2<<20),
			"bytes allocated for blocks of 12 MB, compression %d", compression)
	}
}

// without reads a file without its first bytes, which no test reads.
func without(begin int64, file []byte) io.ReaderAt {
	return readerAt(func(p []byte, offset int64) (int, error) {
		return bytes.NewReader(file).ReadAt(p, offset-begin)
	})
}

// A table beyond 4 GiB is like any other.
func TestOffsetsOf64Bits(t *testing.T) {
	const begin = 5 << 30
	stored := internalKeys(names(100)...)
	o := tableOptions{blockSize: 100, policy: exact{t}, internal: true, baseLg: 20}
	w := newTableWriter(o, begin)
	w.addAll(stored)
	w.finish()
	table, err := sstable.OpenTable(without(begin, w.file), begin+int64(len(w.file)))
	require.NoError(t, err)
	requireEntries(t, table, w, stored)
	filter, err := openFilter(table, exact{t})
	require.NoError(t, err)
	require.True(t, filter.MayContain(w.user(stored[0])))
	require.False(t, filter.MayContain([]byte("a")))
}
