package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

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

// The buffers for blocks serve for all blocks, and an open table keeps only its index: 48 bytes
// here for each data block, while slices that grow need some times as much.
func TestMemory(t *testing.T) {
	for _, compression := range []byte{raw, snappied} {
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
	filter, err := openFilter(table, exact{t})
	require.NoError(t, err)
	for _, key := range stored {
		require.True(t, filter.MayContain(w.user(key)))
	}
	require.False(t, filter.MayContain([]byte("a")))
}
