package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// levelDBFile is a table in LevelDB's format in the making.
type levelDBFile struct {
	bytes.Buffer
}

// block writes a block and returns its handle.
func (f *levelDBFile) block(contents []byte) []byte {
	offset := f.Len()
	crc := crc32.Checksum(append(bytes.Clone(contents), 0), crc32.MakeTable(crc32.Castagnoli))
	f.Write(contents)
	f.WriteByte(0)
	f.Write(binary.LittleEndian.AppendUint32(nil, crc>>15|crc<<17+0xa282ead8))
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(offset)), uint64(len(contents)))
}

// entryBlock makes a block of keys and values; every entry is a restart.
func entryBlock(pairs ...[2][]byte) (block []byte) {
	var restarts []byte
	for _, p := range pairs {
		restarts = binary.LittleEndian.AppendUint32(restarts, uint32(len(block)))
		block = append(block, 0, byte(len(p[0])), byte(len(p[1])))
		block = append(append(block, p[0]...), p[1]...)
	}
	return binary.LittleEndian.AppendUint32(append(block, restarts...), uint32(len(pairs)))
}

type named struct {
	name     string
	contents []byte
}

// writeLevelDB writes one data block of the stored keys, and the other blocks, which must be in the
// order of their names.
func writeLevelDB(t *testing.T, stored [][]byte, others ...named) string {
	return writeIndexed(t, stored, stored[len(stored)-1], others...)
}

// writeIndexed is writeLevelDB with any key in the index.
func writeIndexed(t *testing.T, stored [][]byte, indexKey []byte, others ...named) string {
	var f levelDBFile
	var data, meta [][2][]byte
	for _, key := range stored {
		data = append(data, [2][]byte{key, nil})
	}
	handle := f.block(entryBlock(data...))
	for _, o := range others {
		meta = append(meta, [2][]byte{[]byte(o.name), f.block(o.contents)})
	}
	return f.finish(t, meta, [2][]byte{indexKey, handle})
}

// finish writes the end of the table, and the file.
func (f *levelDBFile) finish(t *testing.T, meta [][2][]byte, blocks ...[2][]byte) string {
	metaindex := f.block(entryBlock(meta...))
	index := f.block(entryBlock(blocks...))
	footer := make([]byte, 40)
	copy(footer, append(metaindex, index...))
	f.Write(footer)
	f.WriteString("\x57\xfb\x80\x8b\x24\x75\x47\xdb")
	path := filepath.Join(t.TempDir(), "000001.ldb")
	require.NoError(t, os.WriteFile(path, f.Bytes(), 0o600))
	return path
}

// filterBlock is a filter block with one filter.
func filterBlock(filter []byte) []byte {
	block := append(bytes.Clone(filter), 0, 0, 0, 0)
	return append(binary.LittleEndian.AppendUint32(block, uint32(len(filter))), 11)
}

// internalKeys returns the keys as a database stores them.
func internalKeys(keys [][]byte) (stored [][]byte) {
	for i, key := range keys {
		stored = append(stored,
			binary.LittleEndian.AppendUint64(bytes.Clone(key), uint64(i+1)<<8|1))
	}
	return stored
}

func textKeys(n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, []byte(fmt.Sprintf("key%05d", i)))
	}
	return keys
}

// The first filter of a known name is looked at, or else the first.
func TestLevelDBFilterNames(t *testing.T) {
	keys := textKeys(50)
	bloom := policytest.Must(policy.NewBloom(10)).AppendFilter(nil, keys)
	for _, c := range []struct {
		names  []string
		policy string
		reader FilterReader
	}{
		{[]string{policy.NameGoLevelDB}, policy.NameGoLevelDB, LevelDBFilters{}},
		{[]string{"unknown"}, "unknown", nil},
		{[]string{"rocksdb.BuiltinBloomFilter"}, "rocksdb.BuiltinBloomFilter", nil}, // it would panic
		{[]string{"a", "mine"}, "mine", LevelDBFilters{}},                           // as Open is told
		{[]string{"a", policy.Name, "z"}, policy.Name, LevelDBFilters{}},
		{[]string{"a", "b"}, "a", nil},
	} {
		var blocks []named
		for _, name := range c.names {
			blocks = append(blocks, named{"filter." + name, filterBlock(bloom)})
		}
		path := writeLevelDB(t, internalKeys(keys), blocks...)
		info := openTable(t, path, "theirs", "mine").Info()
		require.Equal(t, "LevelDB", info.Format)
		require.Equal(t, &Filters{
			Policy: c.policy, Layout: PerWindow, BaseLg: 11,
			Bytes: int64(len(bloom) + 9), Reader: c.reader, Each: [][]byte{bloom},
		}, info.Filters)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none.ldb"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(dir)
	require.ErrorContains(t, err, "not a regular file")

	path := writeLevelDB(t, textKeys(3), named{"rocksdb.properties", entryBlock()})
	_, err = Open(path)
	var unsupported *UnsupportedError
	require.ErrorAs(t, err, &unsupported)
	require.Equal(t, "RocksDB", unsupported.Format)

	path = writeLevelDB(t, internalKeys(textKeys(3)),
		named{"filter." + policy.Name, []byte("no filter block")})
	_, err = Open(path)
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, path, corrupt.File)
}

// An index that does not fit to the keys may be right for another comparer, unless the manifest
// names the default one.
func TestLevelDBIndexOfAnotherComparer(t *testing.T) {
	keys := textKeys(2)
	path := writeIndexed(t, keys, []byte("a")) // below the block's keys
	dir := filepath.Dir(path)
	write := func(name, contents string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o600))
	}
	const current = "MANIFEST-000002\n"
	elsewhere := filepath.Join(dir, "elsewhere")
	require.NoError(t, os.Mkdir(elsewhere, 0o700))
	write("elsewhere/MANIFEST-000002", manifest(t, "\x01\x1aleveldb.BytewiseComparator"))
	bytewiseManifest := manifest(t, "\x01\x1aleveldb.BytewiseComparator")
	for _, c := range []struct {
		current, manifest string
		isBytewise        bool
	}{
		{current, bytewiseManifest, true},
		{current, manifest(t, "\x01\x08idb_cmp1"), false},
		{"", bytewiseManifest, false},
		{"elsewhere/MANIFEST-000002\n", "", false},
		{"MANIFEST-000002/../elsewhere/MANIFEST-000002\n", "", false},
		{current, "", false},
		{current, manifest(t, "\x01\xff"), false},
	} {
		write("CURRENT", c.current)
		write("MANIFEST-000002", c.manifest)
		n := 0
		err := openTable(t, path).Keys(func(int, []byte) error { n++; return nil })
		require.Equal(t, len(keys), n)
		if c.isBytewise {
			require.ErrorIs(t, err, sstable.ErrIndexOrder)
		} else {
			require.NoError(t, err, "%q", c)
		}
	}
	// The manifests of C++ LevelDB and of goleveldb.
	for _, dir := range []string{"leveldb/tables/one_key", "goleveldb/name2_snappy"} {
		s, err := ReadStructure(filepath.Join("..", "..", "..", "..", "testdata", dir))
		require.NoError(t, err)
		require.Equal(t, bytewise, s.Comparer)
	}
}

// A lookup reads two blocks at most, as goleveldb's, even if the index says of the first block that
// it has all keys.
func TestLevelDBSeekIsBounded(t *testing.T) {
	var f levelDBFile
	var index [][2][]byte
	keys := textKeys(50)
	for i, key := range keys {
		index = append(index, [2][]byte{{0xff, byte(i)}, f.block(entryBlock([2][]byte{key, nil}))})
	}
	table := openTable(t, f.finish(t, nil, index...))
	for i, key := range keys {
		found, blocks, err := table.Seek(key)
		require.NoError(t, err)
		require.Equal(t, min(i+1, 2), blocks)
		require.Equal(t, i < 2, found != nil)
	}
}
