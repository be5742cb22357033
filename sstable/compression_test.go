package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// What follows the first frame is not in the length that LevelDB reads. It must not become part of
// the block, whatever room a buffer has from the blocks before.
func TestSecondFrame(t *testing.T) {
	first := compress(t, appendRestarts(nil, 0), zstded)
	second := compress(t, bytes.Repeat([]byte("more"), 3), zstded)
	large := compress(t, bytes.Repeat([]byte{0}, 1<<16), zstded) // a large buffer
	file, blocks := tableOf(storedBlock{large, zstded}, rawBlock(),
		storedBlock{slices.Concat(first, second), zstded})
	table, err := sstable.OpenTable(bytes.NewReader(append(slices.Clone(file[:len(file)-48]),
		footer(blocks[1], blocks[1])...)), int64(len(file)))
	require.NoError(t, err)
	for range 2 {
		_, err = table.ReadBlock(blocks[2])
		require.ErrorContains(t, err, "zstd: ")
		block, err := table.ReadBlock(blocks[0])
		require.NoError(t, err)
		require.Equal(t, make([]byte, 1<<16), block)
	}
}

// Snappy of a possible length may still be wrong: here a copy of bytes before the first.
func TestWrongSnappy(t *testing.T) {
	requireBadBlock(t, storedBlock{[]byte{8, 4<<2 | 1, 5}, snappied}, "snappy: ")
}

// Real blocks that compress as well as their format allows are read.
func TestBestCompression(t *testing.T) {
	var b blockWriter
	b.add([]byte("k"), make([]byte, 1<<20))
	contents := b.finish()
	// The shortest snappy: one literal, and copies of 64 bytes from the byte before.
	best := binary.AppendUvarint(nil, 1<<20+1)
	best = append(best, 0, 0)
	for range 1 << 20 / 64 {
		best = append(best, 63<<2|2, 1, 0)
	}
	decoded, err := snappy.Decode(nil, best)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 1<<20+1), decoded)

	for name, stored := range map[string]storedBlock{"snappy": {best, snappied},
		"zstd": {compress(t, contents, zstded), zstded}} {
		file, blocks := tableOf(stored, rawBlock(), rawBlock())
		block, err := openTable(t, file).ReadBlock(blocks[0])
		require.NoError(t, err, name)
		require.Greater(t, len(block), 1<<20, name)
	}
}

// Frames of many blocks of all kinds: repeated bytes, compressed, and raw.
func TestZstdFrames(t *testing.T) {
	rng := policytest.Rand(t, 5)
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault,
		zstd.SpeedBestCompression} {
		encoder, err := zstd.NewWriter(nil, zstd.WithSingleSegment(level == zstd.SpeedDefault),
			zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(level == zstd.SpeedFastest))
		require.NoError(t, err)
		for _, size := range []int{1 << 10, 128<<10 - 1, 128 << 10, 128<<10 + 1, 700 << 10} {
			for kind := range 4 {
				contents := make([]byte, size)
				for at := 0; at < size; at += 64 << 10 {
					part := contents[at:min(at+64<<10, size)]
					switch (kind + at>>18) % 4 {
					case 1:
						rng.Read(part)
					case 2:
						for i := range part {
							part[i] = byte(rng.Intn(4))
						}
					case 3:
						copy(part, bytes.Repeat([]byte("some text "), len(part)/10))
					}
				}
				table, blocks := tableOf(storedBlock{encoder.EncodeAll(contents, nil), zstded},
					rawBlock(), rawBlock())
				block, err := openTable(t, table).ReadBlock(blocks[0])
				require.NoError(t, err)
				require.True(t, bytes.Equal(contents, block))
			}
		}
	}
}

// The buffers for blocks serve for all blocks, and an open table keeps only its index: 48 bytes
// here for each data block, while slices that grow need some times as much.
func TestMemory(t *testing.T) {
	for _, compression := range []byte{raw, snappied, zstded} {
		var file bytes.Buffer
		w := newTableWriter(t, &file, tableOptions{blockSize: 1, compression: compression})
		const n = 200
		for i := range n {
			w.add(fmt.Appendf(nil, "a key of 24 bytes, %05d", i), make([]byte, 60_000-i))
		}
		w.finish()
		before := allocated()
		table := openTable(t, file.Bytes())
		require.Less(t, allocated()-before, uint64(48*n*8+256<<10), "bytes allocated to open")
		before = allocated()
		require.NoError(t, entriesError(t, table, n))
		require.Less(t, allocated()-before, uint64(2<<20),
			"bytes allocated for blocks of 12 MB, compression %d", compression)
	}
}

// An offsetReader reads a file without its first bytes, which no test reads.
type offsetReader struct {
	data  []byte
	begin int64
}

func (r offsetReader) ReadAt(p []byte, offset int64) (int, error) {
	return bytes.NewReader(r.data).ReadAt(p, offset-r.begin)
}

// A table beyond 4 GiB is like any other.
func TestOffsetsOf64Bits(t *testing.T) {
	const begin int64 = 5 << 30
	var file bytes.Buffer
	stored := internalKeys(names(100)...)
	w := newTableWriter(t, &file, tableOptions{blockSize: 100, policy: exact{t}, internal: true,
		baseLg: 20})
	w.offset = uint64(begin)
	w.filter.StartBlock(w.offset)
	for _, key := range stored {
		w.add(key, fmt.Appendf(nil, "value of %q", key))
	}
	w.finish()
	table, err := sstable.OpenTable(offsetReader{file.Bytes(), begin}, begin+int64(file.Len()))
	require.NoError(t, err)
	requireEntries(t, table, w, stored)
	filter, err := table.Filter(exact{t})
	require.NoError(t, err)
	for _, key := range stored {
		require.True(t, filter.MayContain(w.user(key)))
	}
	require.False(t, filter.MayContain([]byte("a")))
}
