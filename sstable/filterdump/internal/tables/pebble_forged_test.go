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
func forge(t testing.TB, edit func(*meta)) (path string) {
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

func TestPebbleFilterNames(t *testing.T) {
	const own = "fullfilter.rocksdb.BuiltinBloomFilter"
	for _, c := range []struct {
		add, remove []string
		policy      string
		reader      filters.Reader
		others      []string
	}{
		{[]string{"fullfilter.a"}, nil, "rocksdb.BuiltinBloomFilter", filters.Builtin, []string{"a"}},
		{[]string{"fullfilter.z"}, nil, "rocksdb.BuiltinBloomFilter", filters.Builtin, []string{"z"}},
		{[]string{"fullfilter.a", "fullfilter.b"}, []string{own}, "a", nil, []string{"b"}},
		{[]string{"fullfilter.mine"}, []string{own}, "mine", filters.LevelDB, nil},
		{[]string{"fullfilter." + policy.Name}, []string{own}, policy.Name, filters.LevelDB, nil},
	} {
		path := forge(t, func(m *meta) {
			for _, name := range c.add {
				m.blocks[name] = m.blocks[own]
			}
			for _, name := range c.remove {
				delete(m.blocks, name)
			}
		})
		got := *openTable(t, path, "mine").Info().Filters
		filter := pebbleOwn(10, distinct(pebblePoints(t, 8, 500)))
		require.Equal(t, tables.Filters{
			Policy: c.policy, Others: c.others, Layout: tables.PerTable, Bytes: int64(len(filter)),
			Reader: c.reader, Each: [][]byte{filter},
		}, got)
	}
}

// What RocksDB's filters have and Pebble's do not is not called damage, nor no filter.
func TestPebbleFiltersOfRocksDB(t *testing.T) {
	for _, edit := range []func(*meta){
		func(m *meta) { delete(m.blocks, "fullfilter.rocksdb.BuiltinBloomFilter") },
		func(m *meta) { m.properties["rocksdb.prefix.extractor.name"] = "rocksdb.FixedPrefix.4" },
	} {
		_, err := tables.Open(forge(t, edit))
		var unsupported *tables.UnsupportedError
		require.ErrorAs(t, err, &unsupported)
		require.ErrorContains(t, err, "RocksDB v2: it has filters of RocksDB's that Pebble does not have")
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
	var pebble string
	for _, w := range pebbleWriters() {
		if w.v2 && w.table == v2sst.TableFormatPebblev4 {
			pebble = w.newTable(t, pebbleSpec{
				points: pebblePoints(t, 6, 50), bits: 10, compression: v2sst.NoCompression,
			})
		}
	}
	const only = "only Pebble v1 to v7, and RocksDB v2 of old Pebble, can be read"
	for _, c := range []struct {
		original string
		edit     func(t *testing.T, table []byte)
		want     string // "" for corruption
	}{
		{pebble, footerByte(0, 4), ""},
		{old, footerByte(41, 5), "RocksDB v5: " + only},
		{pebble, footerByte(41, 8), "Pebble v8: " + only},
		{pebble, footerByte(41, 0), "Pebble v0: " + only},
		{pebble, newFooter, "Pebble v255: " + only},
		{old, lastByteOfData(0, 0x80, old), ""},
		// a hash index, on which Pebble's reader panics
		{pebble, lastByteOfData(0, 0x80, pebble), ""},
		{old, lastByteOfData(1, 4, old), ""},
	} {
		table := readFile(t, c.original)
		c.edit(t, table)
		path := filepath.Join(t.TempDir(), "000001.sst")
		require.NoError(t, os.WriteFile(path, table, 0o666))
		_, err := read(t, path)
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
	return func(_ *testing.T, table []byte) {
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
		_, err := read(t, path)
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
	table := readFile(t, oldTable(t))
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
	_, err = read(t, path)
	runtime.ReadMemStats(&after)
	var corruption *sstable.CorruptionError
	require.ErrorAs(t, err, &corruption)
	require.EqualValues(t, 10, corruption.Offset)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/2+1<<20))
}
