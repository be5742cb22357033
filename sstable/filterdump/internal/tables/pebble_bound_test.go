package tables

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/blocks"
)

// blockBytes is what each block of wideTable has uncompressed.
const blockBytes = 1 << 20

// wideTable returns a table with n blocks of zeros, which have some hundred bytes each in the file
// if they are compressed.
func wideTable(t *testing.T, n int, c *v2sst.CompressionProfile) string {
	path := filepath.Join(t.TempDir(), "000001.sst")
	file, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	w := v2sst.NewWriter(objstorageprovider.NewFileWritable(file), v2sst.WriterOptions{
		TableFormat: v2sst.TableFormatRocksDBv2, Compression: c, BlockSize: 1, IndexBlockSize: 1 << 20,
	})
	for i := range n {
		key := v2.MakeInternalKey([]byte{byte(i)}, 1, v2.InternalKeyKindSet)
		require.NoError(t, w.Raw().Add(key, make([]byte, blockBytes), false))
	}
	require.NoError(t, w.Close())
	return path
}

func readKeys(path string) (n int, err error) {
	table, err := Open(path)
	if err != nil {
		return 0, err
	}
	defer table.Close()
	err = table.Keys(func(int, []byte) error { n++; return nil })
	return n, err
}

// What a table decompresses to is added up, so that a small file does not take a processor for
// minutes.
func TestPebbleDecompressesLittle(t *testing.T) {
	defer func(most int64) { maxDecompressed = most }(maxDecompressed)
	path := wideTable(t, 12, v2sst.ZstdCompression)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(8<<10))
	const most = 8 * blockBytes
	maxDecompressed = most
	n, err := readKeys(path)
	var unsupported *UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "its blocks have more than 8 MiB and 64 times")
	require.Less(t, n, 9)
	maxDecompressed = 2 * most
	n, err = readKeys(path)
	require.NoError(t, err)
	require.Equal(t, 12, n)
}

// An error of reading the file is not called damage.
func TestPebbleClosed(t *testing.T) {
	table, err := Open(wideTable(t, 2, v2sst.NoCompression))
	require.NoError(t, err)
	require.NoError(t, table.(*pebbleTable).file.file.Close())
	err = table.Keys(func(int, []byte) error { return nil })
	require.ErrorIs(t, err, fs.ErrClosed)
	var corruption *sstable.CorruptionError
	require.NotErrorAs(t, err, &corruption)
}

// An index that names a block again is damage, as in LevelDB's tables: it could name a block that
// becomes large ten thousand times.
func TestPebbleIndexAscends(t *testing.T) {
	path := wideTable(t, 2, v2sst.NoCompression)
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	opened, err := Open(path)
	require.NoError(t, err)
	layout, err := opened.(*pebbleTable).reader.Layout()
	require.NoError(t, err)
	require.NoError(t, opened.Close())
	index := layout.Index[0]
	handle := func(offset uint64) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(nil, offset), layout.Data[1].Length)
	}
	block := table[index.Offset : index.Offset+index.Length]
	at := bytes.Index(block, handle(layout.Data[1].Offset))
	require.Positive(t, at)
	copy(block[at:], handle(layout.Data[1].Offset-1))
	signed := table[index.Offset : index.Offset+index.Length+1]
	binary.LittleEndian.PutUint32(table[len(signed)+int(index.Offset):], blocks.Checksum(signed))
	require.NoError(t, os.WriteFile(path, table, 0o600))
	_, err = readKeys(path)
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
	require.ErrorContains(t, err, "data block 1 begins before the end of the block before it")
}
