package sstable_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// Blocks that an int cannot measure are errors, and no panics.
func TestBlocksBeyondMemory(t *testing.T) {
	const size = 1 << 32
	for _, length := range []uint64{math.MaxInt32 - 4, math.MaxInt32, 1 << 31, 3 << 30} {
		end := footer(sstable.BlockHandle{Length: length}, sstable.BlockHandle{})
		f := offsetReader{end, size - int64(len(end))}
		_, err := sstable.OpenTable(f, size, sstable.WithMaxBlockSize(math.MaxInt64))
		require.ErrorIs(t, err, sstable.ErrTooLarge, "%d", length)
	}

	file, blocks := tableOf(zstdFrame(3<<30), rawBlock(), rawBlock())
	_, err := openTable(t, file, sstable.WithMaxBlockSize(math.MaxInt64)).ReadBlock(blocks[0])
	require.ErrorIs(t, err, sstable.ErrTooLarge)
}
