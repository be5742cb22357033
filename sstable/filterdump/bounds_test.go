package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forgedTable returns a table in LevelDB's format whose only data block has these stored bytes.
func forgedTable(compression byte, stored []byte) (file []byte) {
	put := func(stored []byte, compression byte) (handle []byte) {
		handle = binary.AppendUvarint(nil, uint64(len(file)))
		handle = binary.AppendUvarint(handle, uint64(len(stored)))
		block := append(bytes.Clone(stored), compression)
		crc := crc32.Checksum(block, crc32.MakeTable(crc32.Castagnoli))
		file = binary.LittleEndian.AppendUint32(append(file, block...), (crc>>15|crc<<17)+0xa282ead8)
		return handle
	}
	data := put(stored, compression)
	const restarts = "\x00\x00\x00\x00\x01\x00\x00\x00" // one, at the first entry
	metaindex := put([]byte(restarts), 0)
	index := append([]byte{0, 1, byte(len(data)), 0xff}, data...) // the key 0xff
	footer := append(metaindex, put(append(index, restarts...), 0)...)
	footer = append(footer, make([]byte, 40-len(footer))...)
	return append(append(file, footer...), "\x57\xfb\x80\x8b\x24\x75\x47\xdb"...)
}

// repeatedBytes returns a zstd frame of n times 128 KiB of zeros.
func repeatedBytes(n int) []byte {
	frame := binary.LittleEndian.AppendUint64([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, uint64(n)<<17)
	frame = append(frame, bytes.Repeat([]byte{0x02, 0x00, 0x10, 0}, n)...)
	frame[len(frame)-4] |= 1 // the last block
	return frame
}

// sharedKeys returns a block of n keys of 64 KiB, each of which shares all bytes of the one before.
func sharedKeys(n int) []byte {
	block := append([]byte("\x00\x80\x80\x04\x00"), make([]byte, 1<<16)...)
	block = append(block, bytes.Repeat([]byte("\x80\x80\x04\x00\x00"), n-1)...)
	return append(block, "\x00\x00\x00\x00\x01\x00\x00\x00"...)
}

// requireCheap runs the program, which must not allocate much.
func requireCheap(t *testing.T, args ...string) (status int, out string) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	status, out, _ = filterdump(t, args...)
	metrics.Read(sample)
	require.Less(t, sample[0].Value.Uint64()-before, uint64(64<<20), "bytes allocated")
	return status, out
}

// A few KiB that would take GiB or hours are a table that cannot be read. The other tables have
// their verdict.
func TestForgedBlocks(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(golden("leveldb", "tables", "one_key", "000005.ldb"))
	require.NoError(t, err)
	for i, file := range [][]byte{
		forgedTable(2, repeatedBytes(8192)), good, forgedTable(0, sharedKeys(1<<14)),
	} {
		path := filepath.Join(dir, fmt.Sprintf("%06d.ldb", i))
		require.NoError(t, os.WriteFile(path, file, 0o600))
	}
	status, out := requireCheap(t, "-verify", dir)
	require.Equal(t, exitCannotRun, status)
	require.True(t, strings.HasPrefix(out, "1 table sound: all 1 entry match their filters; "+
		"2 tables that cannot be read here\n"), out)
	out = strings.Join(strings.Fields(out), " ") // lines are wrapped
	require.Contains(t, out, "unsupported: at offset 0: data block 0: zstd: 1073741824 bytes "+
		"uncompressed, and WithMaxBlockSize allows 268435456")
	require.Contains(t, out, "more than 256 times the block's ")
}

// What names a directory's manifest, and the manifest, are not read whole.
func TestLargeManifest(t *testing.T) {
	for _, name := range []string{"CURRENT", "MANIFEST-000002"} {
		dir := manifestIn(t, name, func(path string) error {
			return os.WriteFile(path, nil, 0o600)
		})
		require.NoError(t, os.Truncate(filepath.Join(dir, name), 6<<30)) // no byte is on the disk
		status, out := requireCheap(t, "-verify", dir)
		require.Equal(t, exitSound, status, out)
	}
}

// manifestIn returns a database's directory in which create has made CURRENT or the manifest.
func manifestIn(t *testing.T, name string, create func(path string) error) (dir string) {
	dir = t.TempDir()
	good, err := os.ReadFile(golden("leveldb", "tables", "one_key", "000005.ldb"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "000005.ldb"), good, 0o600))
	current := filepath.Join(dir, "CURRENT")
	require.NoError(t, os.WriteFile(current, []byte("MANIFEST-000002\n"), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	require.NoError(t, create(filepath.Join(dir, name)))
	return dir
}
