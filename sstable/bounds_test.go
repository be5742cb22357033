package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// repeatedBytes returns a zstd frame of n zeros, in 4 bytes for each 128 KiB.
func repeatedBytes(n int64) storedBlock {
	const most = 128 << 10 // in a block of the frame
	frame := binary.LittleEndian.AppendUint64([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, uint64(n))
	for n > 0 {
		size := min(n, most)
		n -= size
		header := size<<3 | 1<<1 // one byte, repeated
		if n == 0 {
			header |= 1 // the last block
		}
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return storedBlock{frame, zstded}
}

// A few KiB of zstd that become GiB are refused before they cost memory.
func TestRepeatedBytes(t *testing.T) {
	for _, n := range []int64{256<<20 + 1, 1 << 30, math.MaxInt32} {
		requireBadBlock(t, repeatedBytes(n),
			fmt.Sprintf("zstd: %d bytes uncompressed, and WithMaxBlockSize allows 268435456", n))
	}
}

// WithMaxBlockSize is the most that a block of any compression may have.
func TestMaxBlockSize(t *testing.T) {
	const size = 100_000
	var b blockWriter
	b.add([]byte("k"), bytes.Repeat([]byte("value"), size/5-4))
	contents := b.finish()
	for kind, name := range map[byte]string{raw: "", snappied: "snappy: ", zstded: "zstd: "} {
		stored := storedBlock{compress(t, contents, kind), kind}
		toData := rawBlock([]byte("k"),
			encodeHandle(sstable.BlockHandle{Length: uint64(len(stored.stored))}))
		file, blocks := tableOf(stored, rawBlock(), toData)

		table := openTable(t, file, sstable.WithMaxBlockSize(int64(len(contents))))
		block, err := table.ReadBlock(blocks[0])
		require.NoError(t, err)
		require.Equal(t, contents, block)

		table = openTable(t, file, sstable.WithMaxBlockSize(int64(len(contents)-1)),
			sstable.WithFileName("x.ldb"))
		_, err = table.ReadBlock(blocks[0])
		require.ErrorIs(t, err, sstable.ErrTooLarge)
		require.EqualError(t, err, fmt.Sprintf("x.ldb: corrupt at offset 0: %s%d bytes "+
			"uncompressed, and WithMaxBlockSize allows %d", name, len(contents), len(contents)-1))
	}
	for _, n := range []int64{0, -1, math.MinInt64} {
		_, err := sstable.OpenTable(bytes.NewReader(nil), 0, sstable.WithMaxBlockSize(n))
		require.EqualError(t, err,
			fmt.Sprintf("sstable: WithMaxBlockSize(%d): pass 1 or more", n))
	}
	_, err := sstable.OpenTable(bytes.NewReader(nil), 0, sstable.WithMaxBlockSize(math.MaxInt64))
	require.ErrorContains(t, err, "not a table")
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
// refused when they have added up to 256 times that size.
func TestKeysThatAddUp(t *testing.T) {
	const keyLen, entries = 1 << 16, 1 << 14 // 1 GiB of keys
	data := sharedKeys(keyLen, entries)
	table := openTable(t, tableOfData(data), sstable.WithKeys(sstable.PlainKeys))
	read := 0
	var err error
	for e, entryErr := range table.Entries() {
		if err = entryErr; err == nil {
			read += len(e.Key)
		}
	}
	size := len(data.stored) - 8 // without the restart
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.EqualError(t, err, fmt.Sprintf("table: corrupt at offset 0: data block 0: "+
		"the keys add up to %d bytes, more than 256 times the block's %d", read+keyLen, size))
	require.Greater(t, read, 256*size-keyLen)
}

// The keys of real blocks never add up to so much, however much they share: with a restart for
// every 256 of them, and with only one if they are short.
func TestKeysThatMayAddUp(t *testing.T) {
	for _, c := range []struct{ keyLen, interval, entries int }{
		{10_000, 16, 1000}, {10_000, 256, 2000}, {700, 1 << 20, 5000},
	} {
		data := blockWriter{interval: c.interval}
		for range c.entries {
			data.add(make([]byte, c.keyLen), nil)
		}
		table := openTable(t, tableOfData(storedBlock{data.finish(), raw}))
		n := 0
		for _, err := range table.Entries() {
			require.NoError(t, err, "%+v", c)
			n++
		}
		require.Equal(t, c.entries, n)
	}
}

// WithMaxBlockSize bounds the keys too: a small file can become a large block.
func TestMaxBlockSizeOfKeys(t *testing.T) {
	file := tableOfData(sharedKeys(1000, 20))
	for size, want := range map[int64]error{20_000: nil, 19_999: sstable.ErrTooLarge} {
		var last error
		for _, err := range openTable(t, file, sstable.WithMaxBlockSize(size)).Entries() {
			last = err
		}
		require.ErrorIs(t, last, want)
		if want != nil {
			require.ErrorContains(t, last,
				"the keys add up to 20000 bytes, and WithMaxBlockSize allows 19999")
		}
	}
}

// A hugeFile ends in a footer, and has zeros before, as a sparse file has.
type hugeFile struct {
	size   int64
	footer []byte
}

func (f hugeFile) ReadAt(p []byte, offset int64) (int, error) {
	clear(p)
	if begin := f.size - 48; offset >= begin {
		copy(p, f.footer[offset-begin:])
	}
	return len(p), nil
}

// A block of a sparse file, whose bytes cost nobody anything, is refused by its length.
func TestSparseFile(t *testing.T) {
	const size = 6 << 30
	long := sstable.BlockHandle{Length: 1 << 30}
	before := allocated()
	_, err := sstable.OpenTable(hugeFile{size, footer(long, sstable.BlockHandle{})}, size)
	require.ErrorContains(t, err, "metaindex: 1073741824 bytes uncompressed, and ")
	require.ErrorIs(t, err, sstable.ErrTooLarge)
	require.Less(t, allocated()-before, uint64(1<<20))
}
