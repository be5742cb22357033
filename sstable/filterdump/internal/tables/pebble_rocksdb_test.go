package tables_test

import (
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	v2sst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/rowblk"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// rocksDB is a directory of tables that RocksDB wrote, with the keys key000000, key000002, ...
// key000998.
const rocksDB = "../../../../testdata/rocksdb/"

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

// What Pebble's reader refuses in RocksDB's tables is no damage.
func TestRocksDBUnreadable(t *testing.T) {
	for name, why := range map[string]string{
		"rocksdb.range_del":                            "unexpected range-del block type",
		"partitionedfilter.rocksdb.BuiltinBloomFilter": "are of a kind that Pebble does not have",
	} {
		path := forge(t, rocksDB+"fv2_full_bloom.sst", func(m *meta) {
			m.blocks[name] = "\x00\x00"
			delete(m.blocks, "fullfilter.rocksdb.BuiltinBloomFilter")
		})
		_, err := tables.Open(path, tables.Options{})
		var unsupported *tables.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.ErrorContains(t, err, why)
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
	ofName := func(policy string, r filters.Reader) *tables.Filters {
		return &tables.Filters{Policy: policy, Reader: r}
	}
	pebble := ofName("rocksdb.BuiltinBloomFilter", filters.Builtin)
	for _, c := range []struct {
		add, remove []string
		want        *tables.Filters // but for the bytes
		others      []string
	}{
		{[]string{"fullfilter.a"}, nil, pebble, []string{"a"}},
		{[]string{"fullfilter.z"}, nil, pebble, []string{"z"}},
		{[]string{"fullfilter.a", "fullfilter.b"}, []string{own}, ofName("a", nil), []string{"b"}},
		{[]string{"fullfilter.mine"}, []string{own}, ofName("mine", filters.LevelDB), nil},
		{[]string{"fullfilter." + policy.Name}, []string{own}, ofName(policy.Name, filters.LevelDB),
			nil},
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
	reader := newReader(t)
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
			_, err := reader.read(forge(t, rocksDB+"fv2_full_bloom.sst", edit))
			require.Error(t, err)
			t.Log(err)
		})
	}
	_, err := contentOf(forge(t, rocksDB+"fv2_full_bloom.sst", func(*meta) {}))
	require.NoError(t, err, "the original is sound")
}

// What Pebble's reader does not know is not called damage, where it may be sound.
func TestPebbleUnsupported(t *testing.T) {
	rocks := rocksDB + "fv2_full_bloom.sst"
	var pebble string
	for _, w := range pebbleWriters() {
		if w.v2 && w.table == v2sst.TableFormatPebblev4 {
			pebble = w.newTable(
				t,
				pebbleSpec{
					points:      pebblePoints(t, 6, 50),
					bits:        10,
					compression: v2sst.NoCompression,
				},
			)
		}
	}
	const (
		unknown  = ", which Pebble does not have"
		only2    = "only RocksDB's format_version 0 and 2 can be read"
		only1to7 = "only Pebble v1 to v7 can be read"
	)
	reader := newReader(t)
	for _, c := range []struct {
		original string
		edit     func(t *testing.T, table []byte)
		want     string // "" for corruption
	}{
		{rocks, footerByte(0, 4), "RocksDB format_version 2: checksums of kind 4" + unknown},
		{rocks, footerByte(0, 2), "RocksDB format_version 2: checksums of kind 2" + unknown},
		{rocks, footerByte(0, 0), "RocksDB format_version 2: checksums of kind 0" + unknown},
		{rocks, footerByte(0, 9), "RocksDB format_version 2: checksums of kind 9" + unknown},
		{pebble, footerByte(0, 4), ""},
		{rocks, footerByte(41, 6), "RocksDB format_version 6: " + only2},
		{rocks, footerByte(41, 3), "RocksDB format_version 3: " + only2},
		{pebble, footerByte(41, 8), "Pebble v8: " + only1to7},
		{pebble, footerByte(41, 0), "Pebble v0: " + only1to7},
		{pebble, newFooter, "Pebble v255: " + only1to7},
		{rocks, lastByteOfData(0, 0x80, rocks), ""},
		// a hash index, on which Pebble's reader panics
		{pebble, lastByteOfData(0, 0x80, pebble), ""},
		{rocks, lastByteOfData(1, 4, rocks), "blocks are compressed with lz4" + unknown},
		{rocks, lastByteOfData(1, 2, rocks), "blocks are compressed with zlib" + unknown},
		{rocks, lastByteOfData(1, 9, rocks), ""},
	} {
		table := readFile(t, c.original)
		c.edit(t, table)
		path := filepath.Join(t.TempDir(), "000001.sst")
		require.NoError(t, os.WriteFile(path, table, 0o666))
		_, err := reader.read(path)
		if c.want == "" {
			var corruption *sstable.CorruptionError
			require.ErrorAs(t, err, &corruption)
			continue
		}
		var unsupported *tables.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.ErrorContains(t, err, c.want)
	}
}

func footerByte(at int, value byte) func(*testing.T, []byte) {
	return func(_ *testing.T,
		table []byte) {
		table[len(table)-v2sst.TableFormatRocksDBv2.FooterSize()+at] = value
	}
}

// newFooter is one of a version that may have anything in front of it.
func newFooter(t *testing.T, table []byte) {
	for i := range 42 {
		footerByte(i, 0xff)(t, table)
	}
}

// lastByteOfData changes the last byte of the first data block, or the one behind it, for the
// compression.
func lastByteOfData(behind int, value byte, original string) func(*testing.T, []byte) {
	return func(t *testing.T, table []byte) {
		blocks, checksum := pebbleLayout(t, original)
		h := blocks[0]
		table[int(h.Offset+h.Length)-1+behind] = value
		sign(table, h, checksum)
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
		original := writers[len(writers)-1].newTable(t,
			pebbleSpec{points: points, compression: c.compression, blockSize: 500})
		table := readFile(t, original)
		blocks, checksum := pebbleLayout(t, original)
		h := blocks[0]
		require.NotZero(t, table[h.Offset+h.Length], "it is compressed")
		binary.PutUvarint(table[int(h.Offset)+c.at:], 1<<30+1)
		sign(table, h, checksum)
		path := filepath.Join(t.TempDir(), "000001.sst")
		require.NoError(t, os.WriteFile(path, table, 0o666))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := contentOf(path)
		runtime.ReadMemStats(&after)
		var corruption *sstable.CorruptionError
		require.ErrorAs(t, err, &corruption)
		require.EqualValues(t, h.Offset, corruption.Offset)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<24), c.compression.Name)
	}
}

// A wrong length costs no more memory than one copy of the bytes that it names.
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
	_, err = contentOf(path)
	runtime.ReadMemStats(&after)
	var corruption *sstable.CorruptionError
	require.ErrorAs(t, err, &corruption)
	require.EqualValues(t, 10, corruption.Offset)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/2+1<<20))
}
