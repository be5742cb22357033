package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// Any bytes anywhere in a table of Pebble's, with the checksums of its blocks put right: reading it
// ends, with a status.
func FuzzPebble(f *testing.F) {
	originals, blocks := map[bool][]byte{}, map[bool][]block.Handle{}
	for columns, format := range map[bool]pebblesst.TableFormat{
		false: pebblesst.TableFormatRocksDBv2, true: pebblesst.TableFormatMax,
	} {
		table := writePebble(f, format, pebble.DefaultComparer.Name)
		originals[columns], blocks[columns] = table, pebbleBlocks(f, table)
		// Most other steps make a length of gigabytes, which takes many seconds without cgo.
		for at := 0; at < len(table); at += 41 {
			f.Add(columns, uint16(at), []byte{0xff, 0, 1})
		}
		for _, h := range blocks[columns] { // a number that makes wild pointers
			f.Add(columns, uint16(h.Offset+h.Length-1), []byte{0x80})
		}
	}
	path := filepath.Join(f.TempDir(), "000001.sst")
	f.Fuzz(func(t *testing.T, columns bool, at uint16, data []byte) {
		table := bytes.Clone(originals[columns])
		begin := int(at) % len(table)
		end := begin + copy(table[begin:], data)
		for _, h := range blocks[columns] {
			if int(h.Offset) < end && begin <= int(h.Offset+h.Length) {
				mendChecksum(table, h)
			}
		}
		require.NoError(t, os.WriteFile(path, table, 0o600))
		r := verifyOne(t, path, tables.Options{})
		require.NotContains(t, []Status{Missing, ""}, r.Status)
	})
}

// mendChecksum makes the checksum of a block right again.
func mendChecksum(table []byte, h block.Handle) {
	end := h.Offset + h.Length + 1
	crc := crc32.Checksum(table[h.Offset:end], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(table[end:], (crc>>15|crc<<17)+0xa282ead8)
}

// pebbleBlocks returns where the blocks are that are read for the keys and the filter.
func pebbleBlocks(t testing.TB, table []byte) (blocks []block.Handle) {
	var file objstorage.MemObj
	require.NoError(t, file.Write(bytes.Clone(table)))
	r, err := pebblesst.NewReader(context.Background(), &file, pebblesst.ReaderOptions{})
	require.NoError(t, err)
	defer r.Close()
	layout, err := r.Layout()
	require.NoError(t, err)
	return append(layout.Index, layout.Data[0].Handle, layout.Filter[0].Handle, layout.Properties,
		layout.MetaIndex)
}
