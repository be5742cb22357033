package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/table"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/scan"
)

// lookAt looks at a table.
func lookAt(t testing.TB, path string) *scan.Result {
	return scan.Reader{}.Read(context.Background(), path, &scan.Question{Verify: true})
}

// plainTable returns a table of plain keys that goleveldb wrote, with filters for windows of
// 2^baseLg bytes, and where its blocks are.
func plainTable(
	t *testing.T, f filter.Filter, keys, baseLg int,
) (file []byte, blocks []sstable.BlockHandle) {
	var b bytes.Buffer
	w := table.NewWriter(&b, &opt.Options{
		Filter: f, BlockSize: 256, FilterBaseLg: baseLg,
		Compression: opt.NoCompression,
	}, nil, 0)
	for i := range keys {
		require.NoError(t, w.Append([]byte(fmt.Sprintf("key%05d", i*17)),
			bytes.Repeat([]byte{byte(i)}, 100)))
	}
	require.NoError(t, w.Close())
	file = b.Bytes()

	opened, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for i := range opened.Blocks() {
		blocks = append(blocks, opened.Block(i))
	}
	blocks = append(blocks, opened.Filters()[0].Handle)
	footer := file[len(file)-48:]
	for range 2 {
		offset, n := binary.Uvarint(footer)
		length, m := binary.Uvarint(footer[n:])
		blocks, footer = append(blocks, sstable.BlockHandle{Offset: offset, Length: length}),
			footer[n+m:]
	}
	return file, blocks
}

// mendChecksum makes the checksum of the block that holds a byte right again.
func mendChecksum(file []byte, blocks []sstable.BlockHandle, at uint64) {
	for _, h := range blocks {
		if end := h.Offset + h.Length + 1; h.Offset <= at && at < end {
			crc := crc32.Checksum(file[h.Offset:end], crc32.MakeTable(crc32.Castagnoli))
			binary.LittleEndian.PutUint32(file[end:], (crc>>15|crc<<17)+0xa282ead8)
		}
	}
}
