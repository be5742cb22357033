package tables

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// blockBytes is what each block of wideTable has uncompressed.
const blockBytes = 1 << 20

// wideTable returns a table with n blocks of zeros, which have some hundred bytes each in the file
// if they are compressed.
func wideTable(t *testing.T, n int, c *v2sst.CompressionProfile) string {
	s := pebbleSpec{compression: c}
	for i := range n {
		s.points = append(s.points, pebblePoint{
			string([]byte{byte(i)}), 1, v2.InternalKeyKindSet, make([]byte, blockBytes)})
	}
	return pebbleWriters()[0].newTable(t, s)
}

// What a table decompresses to is added up, so that a small file does not take a processor for
// minutes.
func TestPebbleDecompressesLittle(t *testing.T) {
	defer func(most int64) { maxDecompressed = most }(maxDecompressed)
	path := wideTable(t, 12, v2sst.ZstdCompression)
	require.Less(t, len(readFile(t, path)), 8<<10)
	const most = 8 * blockBytes
	maxDecompressed = most
	keys, err := read(t, path)
	var unsupported *UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "its blocks have more than 8 MiB and 64 times")
	require.Less(t, len(keys), 9)
	maxDecompressed = 2 * most
	keys, err = read(t, path)
	require.NoError(t, err)
	require.Len(t, keys, 12)
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
	table := readFile(t, path)
	layout, err := pebbleReader(t, path).Layout()
	require.NoError(t, err)
	handle := func(offset uint64) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(nil, offset), layout.Data[1].Length)
	}
	index := layout.Index[0]
	contents := table[index.Offset : index.Offset+index.Length]
	at := bytes.Index(contents, handle(layout.Data[1].Offset))
	require.Positive(t, at)
	copy(contents[at:], handle(layout.Data[1].Offset-1))
	sign(table, index, block.ChecksumTypeCRC32c)
	_, err = read(t, writeFile(t, table))
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
	require.ErrorContains(t, err, "data block 1 begins before the end of the block before it")
}
