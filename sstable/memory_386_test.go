package sstable_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// A file of 4 GiB that ends in a footer, and has zeros before.
type hugeFile struct{ footer []byte }

const hugeSize = 1 << 32

func (f hugeFile) ReadAt(p []byte, offset int64) (int, error) {
	clear(p)
	if offset >= hugeSize-48 {
		copy(p, f.footer[offset-(hugeSize-48):])
	}
	return len(p), nil
}

// Blocks that an int cannot measure are errors, and no panics.
func TestBlocksBeyondMemory(t *testing.T) {
	for _, length := range []uint64{math.MaxInt32 - 4, math.MaxInt32, 1 << 31, 3 << 30} {
		f := hugeFile{footer(sstable.BlockHandle{Length: length}, sstable.BlockHandle{})}
		_, err := sstable.OpenTable(f, hugeSize)
		require.ErrorContains(t, err, "does not fit into memory", "%d", length)
	}

	// 3 GiB of one byte, in zstd.
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0},
		binary.LittleEndian.AppendUint64(nil, 3<<30)...)
	frame = append(frame, bytes.Repeat([]byte{0x02, 0x00, 0x10, 'x'}, 3<<30>>17)...)
	requireBadBlock(t, storedBlock{frame, zstded}, "zstd: ")
}
