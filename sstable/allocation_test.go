package sstable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/golang/snappy"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// Tests of what reading may cost, in memory and in time.

// tableOf returns a table of one data block, a metaindex and an index, whose bytes are any, and
// where the data block is.
func tableOf(data, metaindex, index storedBlock) ([]byte, sstable.BlockHandle) {
	var f tableFile
	h := f.put(data)
	f.finish(metaindex, index)
	return f.bytes, h
}

// tableOfData returns a table of one data block.
func tableOfData(data storedBlock) []byte {
	toData := sstable.BlockHandle{Length: uint64(len(data.stored))}
	file, _ := tableOf(data, rawBlock(), rawBlock([]byte("\xff"), encodeHandle(toData)))
	return file
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
	requireFailsCheaply(t, tableOfData(b), 8, "x.ldb: corrupt at offset 0: data block 0: "+want)
	file, _ := tableOf(rawBlock(), b, rawBlock())
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
	// One that compresses as well as its format allows is read: a literal, and copies of 64 bytes
	// from the byte before.
	best := append(binary.AppendUvarint(nil, 1<<20+1), 0, 0)
	for range 1 << 20 / 64 {
		best = append(best, 63<<2|2, 1, 0)
	}
	file, data := tableOf(storedBlock{best, snappied}, rawBlock(), rawBlock())
	block, err := openTable(t, file).ReadBlock(data)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 1<<20+1), block)
	large := append(binary.AppendUvarint(nil, 256<<20+1), make([]byte, 13<<20)...)
	file, data = tableOf(storedBlock{large, snappied}, rawBlock(), rawBlock())
	_, err = openTable(t, file).ReadBlock(data)
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.ErrorContains(t, err, "268435457 bytes uncompressed, of at most 268435456")
}

// sharedKeys returns a block of equal keys. Their values are handles of blocks without bytes, one
// after the other.
func sharedKeys(keyLen, interval, n int) storedBlock {
	var entries [][]byte
	key := make([]byte, keyLen)
	for i := range n {
		entries = append(entries, key, encodeHandle(sstable.BlockHandle{Offset: 5 * uint64(i)}))
	}
	return storedBlock{blockOf(interval, entries...), raw}
}

// Keys that share all bytes of the one before add up to the square of the block's size. They are
// refused when they have added up to 256 times that size, or to 256 MiB, and in the metaindex and
// the index, which are kept in memory, when they have added up to 16 times that size.
func TestKeysThatAddUp(t *testing.T) {
	const keyLen, entries = 1 << 14, 1 << 11 // 32 MiB of keys
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

	kept, data := sharedKeys(10_000, 20, 20), storedBlock{make([]byte, 500), raw}
	file, _ = tableOf(data, kept, rawBlock())
	requireFailsCheaply(t, file, 100, "metaindex: ")
	file, _ = tableOf(data, rawBlock(), kept)
	requireFailsCheaply(t, file, 100, "index: ")
	file, _ = tableOf(data, sharedKeys(10_000, 16, 64), rawBlock())
	openTable(t, file) // there is a restart for every 16 keys, as engines write it
}

// The buffers for blocks serve for all blocks, and an open table keeps only its index: 48 bytes
// here for each data block, while slices that grow need some times as much.
func TestMemory(t *testing.T) {
	for _, compression := range []byte{raw, snappied} {
		const n = 200
		var f tableFile
		var index [][]byte
		for i := range n {
			key := fmt.Appendf(nil, "a key of 24 bytes, %05d", i)
			block := blockOf(1, key, make([]byte, 60_000-i))
			if compression == snappied {
				block = snappy.Encode(nil, block)
			}
			index = append(index, key, encodeHandle(f.put(storedBlock{block, compression})))
		}
		f.finish(rawBlock(), rawBlock(index...))
		before := allocated()
		table := openTable(t, f.bytes)
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
	o := tableOptions{begin: begin, filter: policy.NameLevelDB, internal: true, baseLg: 30}
	f := writeTable(o, internalKeys(names(100)...)...)
	table, err := sstable.OpenTable(without(begin, f.bytes), int64(f.end()))
	require.NoError(t, err)
	requireTable(t, table, f)
}
