package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	v2 "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/objstorage"
	pebblesst "github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var ownFilter = pebblesst.WriterOptions{FilterPolicy: bloom.FilterPolicy(10)} // Pebble's

type pebblePoint struct {
	key   string
	seq   uint64
	kind  v2.InternalKeyKind
	value []byte
}

// pebblePoints returns entries of n different keys: of all kinds, some in several versions, with
// values of no bytes and of many.
func pebblePoints(n int) (points []pebblePoint) {
	kinds := []v2.InternalKeyKind{
		v2.InternalKeyKindSet, v2.InternalKeyKindSet, v2.InternalKeyKindSetWithDelete,
		v2.InternalKeyKindMerge, v2.InternalKeyKindDelete, v2.InternalKeyKindSingleDelete,
	}
	for i := range n {
		for v := i%3 + 1; v > 0; v-- {
			p := pebblePoint{key: fmt.Sprintf("key%04d%s", i, make([]byte, i%20)),
				seq: uint64(100 * v), kind: kinds[(i+v)%len(kinds)]}
			if p.kind != v2.InternalKeyKindDelete && p.kind != v2.InternalKeyKindSingleDelete {
				p.value = make([]byte, i%7*10)
			}
			points = append(points, p)
		}
	}
	return points
}

// writePebble has Pebble write a table of points, sorted by key and then from the newest to the
// oldest, of deletions of ranges, and of range keys if the format has them.
func writePebble(
	t testing.TB, f pebblesst.TableFormat, o pebblesst.WriterOptions, points []pebblePoint,
	blobs bool,
) []byte {
	o.TableFormat = f
	var file objstorage.MemObj
	w := pebblesst.NewWriter(&file, o)
	for i, p := range points {
		key := v2.MakeInternalKey([]byte(p.key), v2.SeqNum(p.seq), p.kind)
		if blobs && p.kind == v2.InternalKeyKindSet && i%2 == 0 {
			handle := blob.InlineHandle{
				InlineHandlePreface: blob.InlineHandlePreface{ValueLen: uint32(1 << (i % 25))},
				HandleSuffix:        blob.HandleSuffix{ValueID: blob.BlockValueID(i)},
			}
			require.NoError(t, w.Raw().AddWithBlobHandle(key, handle, 0, false))
			continue
		}
		require.NoError(t, w.Raw().Add(key, p.value, false))
	}
	require.NoError(t, w.DeleteRange([]byte("a"), []byte("c")))
	if f >= pebblesst.TableFormatPebblev2 {
		require.NoError(t, w.RangeKeySet([]byte("b"), []byte("f"), nil, []byte("value")))
	}
	require.NoError(t, w.Close())
	return file.Data()
}

// read opens and reads a table, and returns what it has: the filter and the keys. The error is of a
// documented type, or a panic's.
func read(t testing.TB, path string) (f *filters, keys []string, err error) {
	err = Guard(func() error {
		table, err := File{Open: path}.open()
		if err != nil {
			return err
		}
		defer table.close()
		f = table.filters
		return table.keys(func(filter int, key []byte) {
			require.Zero(t, filter)
			require.True(t, f == nil || f.mayContain(f.each[0], key))
			keys = append(keys, string(key))
		})
	})
	var corrupt *sstable.CorruptionError
	require.True(t, err == nil || errors.As(err, &corrupt) || errors.Is(err, errNoTable) ||
		errors.Is(err, errCrashed), err)
	return f, keys, err
}

// All formats, with each filter, index, checksum and place of values that they have.
func TestPebble(t *testing.T) {
	type options = pebblesst.WriterOptions
	ours := func(p *policy.Policy, err error) options {
		return options{FilterPolicy: pebblev2.New(testkit.Must(p, err))}
	}
	twoLevels, xxHash := ownFilter, ownFilter
	twoLevels.BlockSize, twoLevels.IndexBlockSize = 300, 300
	xxHash.Checksum = block.ChecksumTypeXXHash64
	all, named := pebblePoints(400), policy.WithName("mine")
	for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
		for name, c := range map[string]struct {
			o        options
			points   []pebblePoint
			encoding string // "": no filter
		}{
			"own filter": {ownFilter, all, "Pebble Bloom"},
			"no points":  {ownFilter, nil, ""},
			"ours":       {ours(policy.NewBloom(12)), all, "LevelDB Bloom"},
			"named":      {ours(policy.NewBloom(10, named)), all, "LevelDB Bloom"},
			"ribbon":     {ours(policy.NewRibbon(10)), all, "ribbon"},
			"a merger":   {options{MergerName: "test.\nmerger"}, all, ""},
			"xxHash64":   {xxHash, all, "Pebble Bloom"},
			"two levels": {twoLevels, all, "Pebble Bloom"},
			"blobs":      {options{}, all, ""},
		} {
			if name == "blobs" && f < pebblesst.TableFormatPebblev6 {
				continue
			}
			path := writeFile(t, "1.sst", writePebble(t, f, c.o, c.points, name == "blobs"))
			_, keys, err := read(t, path)
			require.NoError(t, err)
			require.Len(t, keys, len(c.points), "%v, %s", f, name)
			for i, p := range c.points {
				require.Equal(t, p.key, keys[i])
			}
			r := File{Path: path, Open: path}.verify()
			require.True(t, r.Status.IsFine(), r.Reason)
			require.Equal(t, c.encoding, r.Kinds())
			require.EqualValues(t, len(readFile(t, path)), r.Size)
			require.True(t, 0 < r.IndexBytes && r.IndexBytes < r.Size)
			if c.o.FilterPolicy != nil {
				require.Equal(t, c.o.FilterPolicy.Name(), r.Policy)
			}
			if c.encoding != "" {
				w := c.o.FilterPolicy.NewWriter(v2.TableFilter)
				for _, key := range slices.Compact(keys) {
					w.AddKey([]byte(key))
				}
				require.EqualValues(t, len(w.Finish(nil)), r.FilterBytes)
			}
		}
	}
}

// A changed bit, or a cut end, is an error, or costs nothing. Under a right checksum Pebble's
// reader follows wrong bytes anywhere: FuzzPebble tries them.
func TestPebbleFlips(t *testing.T) {
	step := 211
	if testing.Short() {
		step = 601
	}
	o := ownFilter
	o.BlockSize = 150
	for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
		table := writePebble(t, f, o, pebblePoints(30), false)
		path := writeFile(t, "1.sst", table)
		filter, want, err := read(t, path)
		require.NoError(t, err)
		try := func(bit int) error {
			damaged := bytes.Clone(table)
			damaged[bit/8] ^= 1 << (bit % 8)
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
			got, keys, err := read(t, path)
			require.True(t, err != nil || reflect.DeepEqual(want, keys) &&
				reflect.DeepEqual(filter.each, got.each), "%v, bit %d", f, bit)
			return err
		}
		tried, errs := 0, 0
		for bit := 0; bit < 8*len(table); bit += step {
			if tried++; try(bit) != nil {
				errs++
			}
			require.NoError(t, os.WriteFile(path, table[:bit/8], 0o600))
			_, _, err := read(t, path)
			require.ErrorIs(t, err, errNoTable, "%v, %d bytes", f, bit/8)
		}
		require.Greater(t, errs, tried/2, "%v: the properties' padding does not matter", f)
		for bit := 8 * (len(table) - f.FooterSize()); bit < 8*(len(table)-magic.Len); bit++ {
			_ = try(bit) // the footer, which has no checksum before Pebble v6
		}
	}
}

// No length or offset makes a read outside of the file, which would be an error of reading. Such an
// error is not called damage.
func TestPebbleReadAt(t *testing.T) {
	table := writePebble(t, pebblesst.TableFormatRocksDBv2, ownFilter, pebblePoints(9), false)
	f, err := openFile(writeFile(t, "1.sst", table), 0)
	require.NoError(t, err)
	for _, c := range []struct{ length, offset int64 }{
		{10, -1}, {10, f.size - 9}, {10, 1<<63 - 1}, {4, 0}, {f.size + 1, 0},
	} {
		err := pebbleFile{f}.ReadAt(context.Background(), make([]byte, c.length), c.offset)
		require.ErrorContains(t, err, "does not fit into the file")
	}
	opened, err := (File{}).openPebble(pebbleFile{f})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	err = opened.keys(func(int, []byte) {})
	require.ErrorIs(t, err, fs.ErrClosed)
	var corruption *sstable.CorruptionError
	require.False(t, errors.As(err, &corruption))
}

// An extractor makes a property of a table by another name.
type extractor struct {
	pebblesst.BlockPropertyCollector
}

func (extractor) Name() string { return "rocksdb.prefix.extractor.name" }

// What Pebble's reader does not know is not called damage: versions, and what only RocksDB has.
func TestNotRead(t *testing.T) {
	const old, v4 = pebblesst.TableFormatRocksDBv2, pebblesst.TableFormatPebblev4
	inFooter := func(f pebblesst.TableFormat, at int, value byte) []byte {
		table := writePebble(t, f, ownFilter, nil, false)
		table[len(table)-f.FooterSize()+at] = value
		return table
	}
	prefixes := ownFilter
	prefixes.BlockPropertyCollectors = []func() pebblesst.BlockPropertyCollector{
		func() pebblesst.BlockPropertyCollector {
			return extractor{pebblesst.NewTestKeysBlockPropertyCollector()}
		},
	}
	inParts := writePebble(t, old, ownFilter, pebblePoints(9), false)
	blocks := pebbleBlocks(t, inParts)
	metaindex := blocks[len(blocks)-1]
	copy(inParts[bytes.LastIndex(inParts, []byte("fullfilter.")):], "part")
	mendChecksum(inParts, metaindex)
	for _, c := range []struct {
		table []byte
		want  error
	}{
		{inFooter(v4, 41, 8), errNotRead}, // the version
		{inFooter(old, 41, 5), errRocksDB},
		{inFooter(old, 0, 2), errRocksDB}, // the kind of checksums
		{writePebble(t, pebblesst.TableFormatPebblev1, prefixes, nil, false), errRocksDB},
		{inParts, errRocksDB},
	} {
		path := writeFile(t, "1.sst", c.table)
		_, _, err := read(t, path)
		require.ErrorIs(t, err, c.want)
		r := File{Path: path, Open: path}.verify()
		require.False(t, r.Status.IsFault() || r.Status.IsFine(), r.Reason)
	}
	damaged := writeFile(t, "1.sst", inFooter(v4, 0, 4)) // the kind of checksums
	require.Equal(t, Corrupt, File{Path: damaged, Open: damaged}.verify().Status)
	guarded := Guard(func() error { panic("Invalid compression type.") })
	require.ErrorIs(t, guarded, errNotRead)
}

// Filters under Pebble's name that Pebble does not write verify nothing, and deny no key. RocksDB
// writes them for the same name: a negative number of probes marks its newer kinds.
func TestForeignPebbleFilters(t *testing.T) {
	f := File{}.filtersOf(Pebbles, true)
	for _, c := range []struct {
		filter string
		valid  bool
	}{
		{"\x00\x00\x00\x00\x00", true}, // of no keys
		{string(make([]byte, 64)) + "\x06\x01\x00\x00\x00", true},
		{string(make([]byte, 128)) + "\x1e\x01\x00\x00\x00", true}, // lines of another processor
		{"\x00\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\x06\x00\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\x06\x03\x00\x00\x00", false},
		{string(make([]byte, 64)) + "\xff\x01\x00\x00\x00", false}, // FastLocalBloom
		{string(make([]byte, 64)) + "\xfe\x00\x00\x00\x00", false}, // ribbon
	} {
		_, err := f.parse([]byte(c.filter))
		require.Equal(t, c.valid, err == nil, "%q: %v", c.filter, err)
		require.Equal(t, !c.valid, f.mayContain([]byte(c.filter), []byte("key")), "%q", c.filter)
	}
}

// Any bytes anywhere in a table of Pebble's, with the checksums of its blocks put right: reading it
// ends, with a status.
func FuzzPebble(f *testing.F) {
	originals, blocks := map[bool][]byte{}, map[bool][]block.Handle{}
	for columns, format := range map[bool]pebblesst.TableFormat{
		false: pebblesst.TableFormatRocksDBv2, true: pebblesst.TableFormatMax,
	} {
		table := writePebble(f, format, ownFilter, pebblePoints(50), false)
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
		require.Contains(t, Statuses, File{Path: path, Open: path}.verify().Status)
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
