package scan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/policy"
)

// recovered returns a table that goleveldb's RecoverFile wrote anew, because a block was damaged.
func recovered(t *testing.T) []byte {
	dir := t.TempDir()
	o := &opt.Options{Filter: filter.NewBloomFilter(10)}
	db, err := leveldb.OpenFile(dir, o)
	require.NoError(t, err)
	for i := range 200 {
		require.NoError(t, db.Put(fmt.Appendf(nil, "%08d", i*7), make([]byte, 50), nil))
	}
	require.NoError(t, db.Close())
	db, err = leveldb.OpenFile(dir, o) // writes the log to a table, and leaves no other behind
	require.NoError(t, err)
	require.NoError(t, db.Close())
	damaged := glob(t, dir, "*.ldb")
	table, err := os.ReadFile(damaged)
	require.NoError(t, err)
	copy(table[100:], "XXXX") // in the first data block
	require.NoError(t, os.WriteFile(damaged, table, 0o600))
	require.NoError(t, os.Remove(glob(t, dir, "MANIFEST-*")))
	require.NoError(t, os.Remove(filepath.Join(dir, "CURRENT")))
	db, err = leveldb.RecoverFile(dir, o)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	table, err = os.ReadFile(glob(t, dir, "*.ldb"))
	require.NoError(t, err)
	return table
}

// glob returns the one file in a directory whose name matches a pattern.
func glob(t *testing.T, dir, pattern string) string {
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0]
}

// basho returns a table as Basho's LevelDB writes it: the metaindex names statistics too, and the
// filters, under C++ LevelDB's name, have other bytes.
func basho(t *testing.T) []byte {
	path := glob(t, "../../../../testdata/leveldb/tables/one_key", "*.ldb")
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	const footerLen = 48
	footer := bytes.Clone(table[len(table)-footerLen:])
	_, n := binary.Uvarint(footer) // of the handle of the metaindex
	_, m := binary.Uvarint(footer[n:])
	metaindex := handleOf(t, footer)
	index := handleOf(t, footer[n+m:])
	_, named, _ := bytes.Cut(table[metaindex.Offset:], []byte("filter."+policy.Name))
	filters := handleOf(t, named)
	clear(table[filters.Offset:][:8]) // all bits of the one filter
	mendChecksum(table, filters)

	entry := func(key string, h block.Handle) []byte {
		value := appendHandle(nil, h)
		return append(append([]byte{0, byte(len(key)), byte(len(value))}, key...), value...)
	}
	contents := entry("filter."+policy.Name, filters)
	restart := len(contents)
	contents = append(contents, entry("stats.sst1", filters)...)
	for _, n := range []int{0, restart, 2} {
		contents = binary.LittleEndian.AppendUint32(contents, uint32(n))
	}
	table = table[:len(table)-footerLen]
	metaindex = block.Handle{Offset: uint64(len(table)), Length: uint64(len(contents))}
	table = append(append(table, contents...), make([]byte, 5)...) // compression, checksum
	mendChecksum(table, metaindex)
	handles := appendHandle(appendHandle(nil, metaindex), index)
	copy(footer, append(handles, make([]byte, 40-len(handles))...))
	return append(table, footer...)
}

// handleOf reads a handle.
func handleOf(t *testing.T, b []byte) block.Handle {
	offset, n := binary.Uvarint(b)
	length, m := binary.Uvarint(b[n:])
	require.True(t, n > 0 && m > 0)
	return block.Handle{Offset: offset, Length: length}
}

func appendHandle(b []byte, h block.Handle) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, h.Offset), h.Length)
}
