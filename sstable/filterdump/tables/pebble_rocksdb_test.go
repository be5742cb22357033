package tables_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/rowblk"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/encoding"
	"github.com/levelbloom/levelbloom/sstable/filterdump/tables"
)

// rocksDB is a directory of tables that RocksDB wrote, with the keys key000000, key000002, ... key000998.
const rocksDB = "../../../testdata/rocksdb/"

func TestRocksDB(t *testing.T) {
	table := openTable(t, rocksDB+"fv2_full_bloom.sst", tables.Options{})
	info := table.Info()
	require.Equal(t, "RocksDB format_version 2", info.Format)
	require.Equal(t, bytewise, info.Comparer)
	require.Equal(t, "rocksdb.BuiltinBloomFilter", info.Filters.Policy)
	require.Equal(t, encoding.PebbleBloom, info.Filters.Encoding)
	require.Empty(t, info.Unverified)
	keys, filters := entries(t, table)
	require.Len(t, keys, 500)
	filter := info.Filters.Each[0]
	passed := 0
	for i, key := range keys {
		require.Equal(t, fmt.Sprintf("key%06d", 2*i), key)
		require.Zero(t, filters[i])
		require.True(t, encoding.PebbleBloom.MayContain(filter, []byte(key)))
		if encoding.PebbleBloom.MayContain(filter, fmt.Appendf(nil, "absent%06d", i)) {
			passed++
		}
	}
	require.Less(t, passed, 50)
	s, ok := encoding.PebbleBloom.Measure(filter)
	require.True(t, ok)
	require.InEpsilon(t, 500, s.Distinct, 0.1)
}

func TestRocksDBUnsupported(t *testing.T) {
	for name, policy := range map[string]string{
		"fv5_full_bloom.sst": "bloomfilter",
		"fv5_ribbon.sst":     "ribbonfilter",
		"db/000009.sst":      "bloomfilter", // with XXH3 checksums
	} {
		_, err := tables.Open(rocksDB+name, tables.Options{})
		var unsupported *tables.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.EqualError(t, err, rocksDB+name+": RocksDB format_version 5: Pebble's reader, which is used here, "+
			"knows format_version 2 only (the filter policy is "+policy+")")
	}
}

// meta is what a forged table has in its properties and in its metaindex.
type meta struct {
	properties map[string]string
	blocks     map[string]string // name -> encoded handle
}

// forge writes a table of rows anew, with other properties and another metaindex.
func forge(t testing.TB, original string, edit func(*meta)) (path string) {
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
	path = filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(path, append(table, footer...), 0o666))
	return path
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

// A filter that RocksDB made of prefixes alone is not compared with keys.
func TestRocksDBPrefixExtractor(t *testing.T) {
	for _, c := range []struct {
		extractor, wholeKeys string
		verified             bool
	}{
		{"nullptr", "1", true},
		{"nullptr", "0", true}, // nobody made a filter of nothing
		{"rocksdb.FixedPrefix.4", "1", true},
		{"rocksdb.FixedPrefix.4", "0", false},
	} {
		path := forge(t, rocksDB+"fv2_full_bloom.sst", func(m *meta) {
			m.properties["rocksdb.prefix.extractor.name"] = c.extractor
			m.properties["rocksdb.block.based.table.whole.key.filtering"] = c.wholeKeys
		})
		table := openTable(t, path, tables.Options{})
		if c.verified {
			require.Empty(t, table.Info().Unverified)
		} else {
			require.Contains(t, table.Info().Unverified, c.extractor)
		}
		keys, _ := entries(t, table)
		require.Len(t, keys, 500)
	}
}

// Of what Pebble's reader cannot read in RocksDB's tables the filter is there all the same.
func TestRocksDBUnreadable(t *testing.T) {
	const prefix = "the keys cannot be read, because Pebble's reader "
	for name, why := range map[string]string{
		"rocksdb.range_del":        prefix + "refuses RocksDB's range deletions",
		"rocksdb.compression_dict": prefix + "does not know RocksDB's dictionaries",
	} {
		path := forge(t, rocksDB+"fv2_full_bloom.sst", func(m *meta) { m.blocks[name] = "\x00\x00" })
		table := openTable(t, path, tables.Options{})
		require.Equal(t, why, table.Info().Unverified)
		require.NotEmpty(t, table.Info().Filters.Each[0])
		err := table.Keys(func(int, []byte) error { panic("no key can be read") })
		var unsupported *tables.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.Equal(t, why, unsupported.Cause)
	}
	path := forge(t, rocksDB+"fv2_full_bloom.sst", func(m *meta) {
		m.blocks["rocksdb.range_del"] = "\x00\x00"
		m.blocks["rocksdb.range_del2"] = "\x00\x00" // Pebble's, beside RocksDB's
	})
	keys, _ := entries(t, openTable(t, path, tables.Options{}))
	require.Len(t, keys, 500)
}

func TestPebbleFilterNames(t *testing.T) {
	const own = "fullfilter.rocksdb.BuiltinBloomFilter"
	ofName := func(policy string, e encoding.Encoding, presumed bool) *tables.Filters {
		return &tables.Filters{Policy: policy, Encoding: e, Presumed: presumed}
	}
	pebble := ofName("rocksdb.BuiltinBloomFilter", encoding.PebbleBloom, false)
	for _, c := range []struct {
		add, remove []string
		want        *tables.Filters // but for the bytes
		others      []string
	}{
		{[]string{"fullfilter.a"}, nil, pebble, []string{"a"}},
		{[]string{"fullfilter.z"}, nil, pebble, []string{"z"}},
		{[]string{"fullfilter.a", "fullfilter.b"}, []string{own}, ofName("a", encoding.LevelDB, true), []string{"b"}},
		{[]string{"fullfilter.mine"}, []string{own}, ofName("mine", encoding.LevelDB, false), nil},
		{[]string{"fullfilter." + policy.Name}, []string{own}, ofName(policy.Name, encoding.LevelDB, false), nil},
		{[]string{"filter.a", "partitionedfilter.b"}, []string{own}, nil, []string{"filter.a", "partitionedfilter.b"}},
		{nil, []string{own}, nil, nil},
	} {
		path := forge(t, rocksDB+"fv2_full_bloom.sst", func(m *meta) {
			for _, name := range c.add {
				m.blocks[name] = m.blocks[own]
			}
			for _, name := range c.remove {
				delete(m.blocks, name)
			}
		})
		info := openTable(t, path, tables.Options{Bloom: []string{"mine"}}).Info()
		if c.want != nil {
			const size = 11*64 + 5 // for 500 keys at 10 bits, an odd number of lines
			c.want.Each, c.want.Bytes = info.Filters.Each, size
			require.Len(t, info.Filters.Each[0], size)
		}
		require.Equal(t, c.want, info.Filters)
		require.Equal(t, c.others, info.Others)
	}
}

func TestPebbleMalformedMeta(t *testing.T) {
	for name, edit := range map[string]func(*meta){
		"no properties":              func(m *meta) { m.properties = nil },
		"empty properties":           func(m *meta) { m.properties = map[string]string{} },
		"properties beyond the file": func(m *meta) { m.blocks["rocksdb.properties"] = "\xff\xff\x7f\x01" },
		"properties of 2^40 bytes":   func(m *meta) { m.blocks["rocksdb.properties"] = "\x00\x80\x80\x80\x80\x80\x20" },
		"properties of 2^64-2 bytes": func(m *meta) {
			m.blocks["rocksdb.properties"] = "\x00\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		},
		"properties at 2^64-2": func(m *meta) {
			m.blocks["rocksdb.properties"] = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"
		},
		"properties of 2^63-1 bytes": func(m *meta) { m.blocks["rocksdb.properties"] = "\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f" },
		"a filter beyond the file": func(m *meta) {
			m.blocks["fullfilter.rocksdb.BuiltinBloomFilter"] = "\x00\xff\xff\x7f"
		},
		"no handle":           func(m *meta) { m.blocks["x"] = "" },
		"half a handle":       func(m *meta) { m.blocks["x"] = "\x00" },
		"a large number":      func(m *meta) { m.blocks["x"] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00" },
		"more than a handle":  func(m *meta) { m.blocks["x"] = "\x00\x00\x00" },
		"a short value index": func(m *meta) { m.blocks["pebble.value_index"] = "\x00\x00" },
		"a short index type":  func(m *meta) { m.properties["rocksdb.block.based.table.index.type"] = "\x00\x00\x00" },
		"a key schema": func(m *meta) {
			m.properties["pebble.colblk.schema"] = "DefaultKeySchema(leveldb.BytewiseComparator,16)"
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tables.Open(forge(t, rocksDB+"fv2_full_bloom.sst", edit), tables.Options{})
			var corruption *sstable.CorruptionError
			require.ErrorAs(t, err, &corruption)
			require.Equal(t, name == "properties at 2^64-2", corruption.Offset < 0)
			if strings.HasPrefix(name, "properties ") {
				require.ErrorContains(t, err, "does not fit into the file")
			}
		})
	}
	_, err := contentOf(t, forge(t, rocksDB+"fv2_full_bloom.sst", func(*meta) {}))
	require.NoError(t, err, "the original is sound")
}

// Of two properties blocks Pebble's reader would take the other one, which nobody has looked at.
func TestPebbleTwins(t *testing.T) {
	const twin = "rocksdb.propertiet"
	path := forge(t, rocksDB+"fv2_full_bloom.sst", func(m *meta) { m.blocks[twin] = "\x00\x00" })
	layout, err := pebbleReader(t, path).Layout()
	require.NoError(t, err)
	table := readFile(t, path)
	table[bytes.Index(table, []byte(twin))+len(twin)-1] = 's'
	sign(table, layout.MetaIndex, block.ChecksumTypeCRC32c)
	require.NoError(t, os.WriteFile(path, table, 0o666))
	_, err = contentOf(t, path)
	require.ErrorContains(t, err, `"rocksdb.properties" is there twice`)
}

// What Pebble's reader does not know is not called damage, where it may be sound.
func TestPebbleUnsupported(t *testing.T) {
	rocks := rocksDB + "fv2_full_bloom.sst"
	var pebble string
	for _, w := range pebbleWriters() {
		if w.v2 && w.table == v2sst.TableFormatPebblev4 {
			pebble = w.newTable(t, pebbleSpec{points: pebblePoints(t, 6, 50), bits: 10, compression: v2sst.NoCompression})
		}
	}
	const (
		unknown = ", which Pebble's reader does not know"
		only2   = "Pebble's reader, which is used here, knows format_version 2 only"
	)
	for _, c := range []struct {
		original string
		edit     func(t *testing.T, table []byte)
		want     string // "" for corruption
	}{
		{rocks, footerByte(0, 4), "RocksDB format_version 2: blocks have XXH3 checksums" + unknown},
		{rocks, footerByte(0, 2), "RocksDB format_version 2: blocks have xxHash checksums" + unknown},
		{rocks, footerByte(0, 0), "RocksDB format_version 2: blocks have no checksums" + unknown},
		{rocks, footerByte(0, 9), ""},
		{pebble, footerByte(0, 4), ""},
		{rocks, footerByte(41, 6), "RocksDB format_version 6: " + only2},
		{rocks, footerByte(41, 3), "RocksDB format_version 3: " + only2 + " (the filter policy is bloomfilter)"},
		{pebble, footerByte(41, 8), "Pebble v8: Pebble's reader here knows Pebble v1 to v7"},
		{pebble, footerByte(41, 0), "Pebble v0: Pebble's reader here knows Pebble v1 to v7"},
		{pebble, newFooter, "Pebble v255: Pebble's reader here knows Pebble v1 to v7"},
		{rocks, lastByteOfData(0, 0x80, rocks), "RocksDB format_version 2: data blocks have hash indexes" + unknown},
		{pebble, lastByteOfData(0, 0x80, pebble), ""},
		{rocks, lastByteOfData(1, 4, rocks), "RocksDB format_version 2: blocks are compressed with lz4" + unknown},
		{rocks, lastByteOfData(1, 2, rocks), "RocksDB format_version 2: blocks are compressed with zlib" + unknown},
		{rocks, lastByteOfData(1, 9, rocks), ""},
	} {
		table := readFile(t, c.original)
		c.edit(t, table)
		path := filepath.Join(t.TempDir(), "000001.sst")
		require.NoError(t, os.WriteFile(path, table, 0o666))
		_, err := contentOf(t, path)
		if c.want == "" {
			var corruption *sstable.CorruptionError
			require.ErrorAs(t, err, &corruption)
			continue
		}
		var unsupported *tables.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.EqualError(t, err, path+": "+c.want)
	}
}

func footerByte(at int, value byte) func(*testing.T, []byte) {
	return func(_ *testing.T, table []byte) { table[len(table)-v2sst.TableFormatRocksDBv2.FooterSize()+at] = value }
}

// newFooter is one of a version that may have anything in front of it.
func newFooter(t *testing.T, table []byte) {
	for i := range 42 {
		footerByte(i, 0xff)(t, table)
	}
}

// lastByteOfData changes the last byte of the first data block, or the one behind it, for the compression.
func lastByteOfData(behind int, value byte, original string) func(*testing.T, []byte) {
	return func(t *testing.T, table []byte) {
		blocks, checksum := pebbleLayout(t, original)
		h := blocks[0]
		table[int(h.Offset+h.Length)-1+behind] = value
		sign(table, h, checksum)
	}
}

func TestPebbleFooterWithoutHandles(t *testing.T) {
	for _, handle := range []int{1, 4} { // that of the metaindex has 3 bytes
		table := readFile(t, rocksDB+"fv2_full_bloom.sst")
		footer := table[len(table)-v2sst.TableFormatRocksDBv2.FooterSize():]
		for i := range 11 {
			footer[handle+i] = 0xff
		}
		path := filepath.Join(t.TempDir(), "000001.sst")
		require.NoError(t, os.WriteFile(path, table, 0o666))
		_, err := tables.Open(path, tables.Options{})
		require.ErrorContains(t, err, "the footer lacks a block handle")
	}
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
		{v2sst.MinLZCompression, 1}, // behind a 0
		{v2sst.MinLZCompression, 0}, // then it is read like snappy's
	} {
		original := writers[len(writers)-1].newTable(t, pebbleSpec{points: points, compression: c.compression, blockSize: 500})
		table := readFile(t, original)
		blocks, checksum := pebbleLayout(t, original)
		h := blocks[0]
		require.NotZero(t, table[h.Offset+h.Length], "it is compressed")
		binary.PutUvarint(table[int(h.Offset)+c.at:], 1<<30)
		sign(table, h, checksum)
		path := filepath.Join(t.TempDir(), "000001.sst")
		require.NoError(t, os.WriteFile(path, table, 0o666))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := contentOf(t, path)
		runtime.ReadMemStats(&after)
		var corruption *sstable.CorruptionError
		require.ErrorAs(t, err, &corruption)
		require.EqualValues(t, h.Offset, corruption.Offset)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<24), c.compression.Name)
	}
}

// A wrong length costs little memory.
func TestPebbleWrongLength(t *testing.T) {
	const size = 1 << 28
	table := readFile(t, rocksDB+"fv2_full_bloom.sst")
	footer := table[len(table)-v2sst.TableFormatRocksDBv2.FooterSize():]
	clear(footer[1:41])
	binary.PutUvarint(footer[1+binary.PutUvarint(footer[1:], 10):], size/2) // the metaindex
	path := filepath.Join(t.TempDir(), "000001.sst")
	require.NoError(t, os.WriteFile(path, nil, 0o666))
	require.NoError(t, os.Truncate(path, size)) // a hole
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.Write(footer)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = contentOf(t, path)
	runtime.ReadMemStats(&after)
	var corruption *sstable.CorruptionError
	require.ErrorAs(t, err, &corruption)
	require.EqualValues(t, 10, corruption.Offset)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// An error of reading the file is not called damage.
func TestPebbleClosed(t *testing.T) {
	table, err := tables.Open(rocksDB+"fv2_full_bloom.sst", tables.Options{})
	require.NoError(t, err)
	entries(t, table)
	unread, err := tables.Open(rocksDB+"fv2_full_bloom.sst", tables.Options{})
	require.NoError(t, err)
	for _, table := range []tables.Table{table, unread} {
		require.NoError(t, table.Close())
		err = table.Keys(func(int, []byte) error { return nil })
		require.ErrorIs(t, err, fs.ErrClosed)
		var corruption *sstable.CorruptionError
		require.NotErrorAs(t, err, &corruption)
	}
}
