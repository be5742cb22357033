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
	requireBadBlock(t, storedBlock{slices.Concat(first, second), zstded}, "zstd: ")

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

// Frames of many blocks of all kinds: repeated bytes, compressed, and as they are.
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

// The buffers for blocks serve for all blocks.
func TestBuffers(t *testing.T) {
	for _, compression := range []byte{raw, snappied, zstded} {
		var file bytes.Buffer
		w := newTableWriter(t, &file, tableOptions{blockSize: 1, compression: compression})
		for i := range 200 {
			w.add(fmt.Appendf(nil, "%05d", i), bytes.Repeat([]byte("value "), 10_000-i))
		}
		w.finish()
		table := openTable(t, file.Bytes())
		before, n := allocated(), 0
		for _, err := range table.Entries() {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 200, n)
		require.Less(t, allocated()-before, uint64(2<<20),
			"bytes allocated for blocks of 12 MB, compression %d", compression)
	}
}
