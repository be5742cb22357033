package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/rowblk"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// read opens and reads a table, and returns what it has: the filter and the keys. The error is of a
// documented type; a panic is one of corruption, as it is in a child process.
func read(t testing.TB, path string) (content [][]byte, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &sstable.CorruptionError{File: path, Offset: -1, Cause: fmt.Errorf("panic: %v", p)}
		}
		var corrupt *sstable.CorruptionError
		var unsupported *UnsupportedError
		require.True(t, err == nil || errors.As(err, &corrupt) || errors.As(err, &unsupported), err)
	}()
	table, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	f := table.Info().Filters
	if f != nil {
		content = append(content, f.Each[0])
	}
	err = table.Keys(func(_ int, key []byte) error {
		content = append(content, bytes.Clone(key))
		require.True(t, f == nil || f.Reader.MayContain(f.Each[0], key))
		return nil
	})
	return content, err
}

// A changed bit, or a cut end, is an error, or costs nothing. Under a right checksum Pebble's
// reader follows wrong bytes anywhere: FuzzPebble tries them, in another process.
func TestPebbleFlips(t *testing.T) {
	step := 211
	if testing.Short() {
		step = 601
	}
	for _, w := range pebbleWriters() {
		path := w.newTable(t, pebbleSpec{points: pebblePoints(t, 9, 30), bits: 10, blockSize: 150})
		want, err := read(t, path)
		require.NoError(t, err)
		table := readFile(t, path)
		tried, errs := 0, 0
		for bit := 0; bit < 8*len(table); bit += step {
			damaged := bytes.Clone(table)
			damaged[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			got, err := read(t, path)
			require.True(t, err != nil || reflect.DeepEqual(want, got), "%s, bit %d", w.name, bit)
			if tried++; err != nil {
				errs++
			}
			require.NoError(t, os.WriteFile(path, table[:bit/8], 0o600))
			_, err = read(t, path)
			require.Error(t, err, "%s, %d bytes", w.name, bit/8)
		}
		require.Greater(t, errs, tried/2, "%s: the properties' padding does not matter", w.name)
	}
}

// oldTable returns a table of 500 keys in the format that Pebble shared with RocksDB.
func oldTable(t testing.TB) string {
	return pebbleWriters()[0].newTable(t, pebbleSpec{points: pebblePoints(t, 8, 500), bits: 10})
}

// meta is what a forged table has in its properties and in its metaindex.
type meta struct {
	properties map[string]string
	blocks     map[string]string // name -> encoded handle
}

// forge writes an old table anew, with other properties and another metaindex.
func forge(t testing.TB, edit func(*meta)) string {
	original := oldTable(t)
	r := pebbleReader(t, original)
	layout, err := r.Layout()
	require.NoError(t, err)
	table := readFile(t, original)
	table, footer := table[:layout.Footer.Offset], slices.Clone(table[layout.Footer.Offset:])

	m := meta{pairs(t, table, layout.Properties), pairs(t, table, layout.MetaIndex)}
	delete(m.blocks, "rocksdb.properties")
	edit(&m)
	put := func(pairs map[string]string) (handle []byte) {
		w := rowblk.Writer{RestartInterval: 1}
		for _, key := range slices.Sorted(maps.Keys(pairs)) {
			require.NoError(t, w.AddRawString(key, []byte(pairs[key])))
		}
		contents := w.Finish()
		h := block.Handle{Offset: uint64(len(table)), Length: uint64(len(contents))}
		table = append(append(table, contents...), make([]byte, block.TrailerLen)...)
		sign(table, h, block.ChecksumTypeCRC32c)
		return binary.AppendUvarint(binary.AppendUvarint(nil, h.Offset), h.Length)
	}
	if _, ok := m.blocks["rocksdb.properties"]; !ok && m.properties != nil {
		m.blocks["rocksdb.properties"] = string(put(m.properties))
	}
	handles := put(m.blocks)
	index := layout.Index[0]
	if layout.TopIndex.Length > 0 {
		index = layout.TopIndex
	}
	handles = binary.AppendUvarint(binary.AppendUvarint(handles, index.Offset), index.Length)
	clear(footer[1:41])
	copy(footer[1:], handles)
	return writeFile(t, append(table, footer...))
}

// pairs returns the entries of a block in its encoding as rows.
func pairs(t testing.TB, table []byte, h block.Handle) map[string]string {
	iter, err := rowblk.NewRawIter(v2sst.DefaultComparer.Compare, table[h.Offset:h.Offset+h.Length])
	require.NoError(t, err)
	m := map[string]string{}
	for key, value := range iter.All() {
		m[string(key)] = string(value)
	}
	return m
}

// What RocksDB's filters have and Pebble's do not is not called damage, nor no filter.
func TestPebbleFiltersOfRocksDB(t *testing.T) {
	for _, edit := range []func(*meta){
		func(m *meta) { delete(m.blocks, "fullfilter.rocksdb.BuiltinBloomFilter") },
		func(m *meta) { m.properties["rocksdb.prefix.extractor.name"] = "rocksdb.FixedPrefix.4" },
	} {
		_, err := Open(forge(t, edit))
		var unsupported *UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.ErrorContains(t, err, "RocksDB v2: it has filters of RocksDB that Pebble does not have")
	}
}

func TestPebbleMalformedMeta(t *testing.T) {
	for name, edit := range map[string]func(*meta){
		"no properties":    func(m *meta) { m.properties = nil },
		"empty properties": func(m *meta) { m.properties = map[string]string{} },
		"a filter beyond the file": func(m *meta) {
			m.blocks["fullfilter.rocksdb.BuiltinBloomFilter"] = "\x00\xff\xff\x7f"
		},
		"properties at 2^64-2": func(m *meta) {
			m.blocks["rocksdb.properties"] = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"
		},
		"a key schema": func(m *meta) {
			m.properties["pebble.colblk.schema"] = "DefaultKeySchema(leveldb.BytewiseComparator,16)"
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, forge(t, edit))
			require.Error(t, err)
			t.Log(err)
		})
	}
	_, err := read(t, forge(t, func(*meta) {}))
	require.NoError(t, err, "the original is sound")
}

// Versions that Pebble's reader does not know are not called damage.
func TestPebbleUnsupported(t *testing.T) {
	old := oldTable(t)
	writers := pebbleWriters()
	pebble := writers[v2sst.TableFormatPebblev4-writers[0].table].newTable(t, pebbleSpec{
		points: pebblePoints(t, 6, 50), bits: 10, compression: v2sst.NoCompression,
	})
	const only = "only Pebble v1 to v7, and RocksDB v2 of old Pebble, can be read"
	var corrupt *sstable.CorruptionError
	var unsupported *UnsupportedError
	for _, c := range []struct {
		original string
		at       int // in the footer
		bytes    string
		want     string // "" for corruption
	}{
		{pebble, 0, "\x04", ""},
		{old, 41, "\x05", "RocksDB v5: " + only},
		{pebble, 41, "\x08", "Pebble v8: " + only},
		{pebble, 41, "\x00", "Pebble v0: " + only},
		// A version that may have anything in front of it.
		{pebble, 0, strings.Repeat("\xff", 42), "Pebble v255: " + only},
	} {
		table := readFile(t, c.original)
		copy(table[len(table)-v2sst.TableFormatRocksDBv2.FooterSize()+c.at:], c.bytes)
		_, err := read(t, writeFile(t, table))
		if c.want == "" {
			require.ErrorAs(t, err, &corrupt)
		} else {
			require.ErrorAs(t, err, &unsupported)
			require.ErrorContains(t, err, c.want)
		}
	}
	for _, original := range []string{old, pebble} {
		blocks, checksum := pebbleLayout(t, original)
		table := readFile(t, original)
		table[blocks[0].Offset+blocks[0].Length] = 4
		sign(table, blocks[0], checksum)
		_, err := read(t, writeFile(t, table))
		require.ErrorAs(t, err, &corrupt)
		require.ErrorContains(t, err, "compression 4")
	}
}

// writeFile writes a table into a new directory and returns its path.
func writeFile(t testing.TB, table []byte) string {
	path := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(path, table, 0o600))
	return path
}

// requireCheapError reads a table that is corrupt at an offset, which must allocate less than most.
func requireCheapError(t *testing.T, path string, offset, most uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(t, path)
	runtime.ReadMemStats(&after)
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
	require.EqualValues(t, offset, corrupt.Offset)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, most)
}

// A block that promises to become large costs little memory.
func TestPebbleWrongDecompressedLength(t *testing.T) {
	points := pebblePoints(t, 7, 100)
	for i := range points {
		points[i].value = make([]byte, 100)
	}
	writers := pebbleWriters()
	for _, c := range []struct {
		compression *v2sst.CompressionProfile
		at          int // where the length is
	}{
		{v2sst.SnappyCompression, 0},
		{v2sst.ZstdCompression, 0},
		{v2sst.MinLZCompression, 1}, // after a 0
		{v2sst.MinLZCompression, 0}, // then it is read like snappy's
	} {
		original := writers[len(writers)-1].newTable(t,
			pebbleSpec{points: points, compression: c.compression, blockSize: 500})
		table := readFile(t, original)
		blocks, checksum := pebbleLayout(t, original)
		h := blocks[0]
		require.NotZero(t, table[h.Offset+h.Length], "it is compressed")
		binary.PutUvarint(table[int(h.Offset)+c.at:], 1<<30+1)
		sign(table, h, checksum)
		requireCheapError(t, writeFile(t, table), h.Offset, 1<<24)
	}
}

// A wrong length costs no more memory than one copy of the bytes that it names.
func TestPebbleWrongLength(t *testing.T) {
	const size = 1 << 28
	table := readFile(t, oldTable(t))
	footer := table[len(table)-v2sst.TableFormatRocksDBv2.FooterSize():]
	clear(footer[1:41])
	binary.PutUvarint(footer[1+binary.PutUvarint(footer[1:], 10):], size/2) // the metaindex
	path := writeFile(t, nil)
	require.NoError(t, os.Truncate(path, size)) // a hole
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.Write(footer)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	requireCheapError(t, path, 10, size*3/4) // two copies would be size
}

// sign writes the checksum of a block after it.
func sign(table []byte, h block.Handle, kind block.ChecksumType) {
	var sums block.Checksummer
	sums.Init(kind)
	trailer := table[h.Offset+h.Length:]
	binary.LittleEndian.PutUint32(trailer[1:],
		sums.Checksum(table[h.Offset:h.Offset+h.Length], trailer[0]))
}

// pebbleLayout returns the blocks that are read for the keys and the filter, and the kind of
// checksums.
func pebbleLayout(t testing.TB, path string) (blocks []block.Handle, checksum block.ChecksumType) {
	r := pebbleReader(t, path)
	layout, err := r.Layout()
	require.NoError(t, err)
	for _, h := range layout.Data {
		blocks = append(blocks, h.Handle)
	}
	blocks = append(blocks, layout.Index...)
	blocks = append(blocks, layout.Properties, layout.MetaIndex)
	if layout.TopIndex.Length > 0 {
		blocks = append(blocks, layout.TopIndex)
	}
	for _, h := range layout.Filter {
		blocks = append(blocks, h.Handle)
	}
	return blocks, r.BlockReader().ChecksumType()
}
