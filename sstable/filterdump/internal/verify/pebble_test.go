package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand"
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
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/levelbloom/levelbloom/adapters/goleveldb"
	"github.com/levelbloom/levelbloom/adapters/pebblev2"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/magic"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

var ownFilter = pebblesst.WriterOptions{FilterPolicy: bloom.FilterPolicy(10)} // Pebble's

// pebbleKeys returns n different keys.
func pebbleKeys(n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "key%04d%s", i, make([]byte, i%20)))
	}
	return keys
}

// writePebble has Pebble write a table of n keys: entries of all kinds, a third of them in two
// versions and a third in three, with values of no bytes and of many, deletions of ranges, and
// range keys if the format has them. With blobs, some values are in other files.
func writePebble(
	t testing.TB, f pebblesst.TableFormat, o pebblesst.WriterOptions, n int, blobs bool,
) []byte {
	o.TableFormat = f
	var file objstorage.MemObj
	w := pebblesst.NewWriter(&file, o)
	kinds := []v2.InternalKeyKind{v2.InternalKeyKindSet, v2.InternalKeyKindSetWithDelete,
		v2.InternalKeyKindMerge, v2.InternalKeyKindDelete, v2.InternalKeyKindSingleDelete}
	for i, user := range pebbleKeys(n) {
		for v := i%3 + 1; v > 0; v-- {
			kind := kinds[(i+v)%len(kinds)]
			key := v2.MakeInternalKey(user, v2.SeqNum(100*v), kind)
			var value []byte
			if kind != v2.InternalKeyKindDelete && kind != v2.InternalKeyKindSingleDelete {
				value = make([]byte, i%7*10)
			}
			if blobs && kind == v2.InternalKeyKindSet {
				handle := blob.InlineHandle{
					InlineHandlePreface: blob.InlineHandlePreface{ValueLen: uint32(1 << (i % 25))},
					HandleSuffix:        blob.HandleSuffix{ValueID: blob.BlockValueID(i)},
				}
				require.NoError(t, w.Raw().AddWithBlobHandle(key, handle, 0, false))
			} else {
				require.NoError(t, w.Raw().Add(key, value, false))
			}
		}
	}
	require.NoError(t, w.DeleteRange([]byte("a"), []byte("c")))
	if f >= pebblesst.TableFormatPebblev2 {
		require.NoError(t, w.RangeKeySet([]byte("b"), []byte("f"), nil, []byte("value")))
	}
	require.NoError(t, w.Close())
	return file.Data()
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
	const all = 399
	named := policy.WithName("mine")
	for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
		for name, c := range map[string]struct {
			o    options
			keys int
			kind string // "": no filter
		}{
			"own filter": {ownFilter, all, "Pebble's own"},
			"no points":  {ownFilter, 0, ""},
			"ours":       {ours(policy.NewBloom(12)), all, "bloom"},
			"named":      {ours(policy.NewBloom(10, named)), all, "bloom"},
			"ribbon":     {ours(policy.NewRibbon(10)), all, "ribbon"},
			"a merger":   {options{MergerName: "test.\nmerger"}, all, ""},
			"xxHash64":   {xxHash, all, "Pebble's own"},
			"two levels": {twoLevels, all, "Pebble's own"},
			"blobs":      {options{}, all, ""},
		} {
			if name == "blobs" && f < pebblesst.TableFormatPebblev6 {
				continue
			}
			contents := writePebble(t, f, c.o, c.keys, name == "blobs")
			r := verifyFile(t, "1.sst", contents)
			require.True(t, r.Status.IsFine(), r.Reason)
			require.EqualValues(t, 2*c.keys, r.Entries, "%v, %s", f, name)
			require.EqualValues(t, c.keys, r.Keys)
			require.Equal(t, c.kind, r.Kinds())
			require.EqualValues(t, len(contents), r.Size)
			require.True(t, 0 < r.IndexBytes && r.IndexBytes < r.Size)
			if c.o.FilterPolicy != nil {
				require.Equal(t, c.o.FilterPolicy.Name(), r.Policy)
			}
			if c.kind != "" {
				w := c.o.FilterPolicy.NewWriter(v2.TableFilter)
				for _, key := range pebbleKeys(c.keys) {
					w.AddKey(key)
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
		table := writePebble(t, f, o, 30, false)
		path := writeFile(t, "1.sst", table)
		verify := func(contents []byte) *Result {
			require.NoError(t, os.WriteFile(path, contents, 0o600))
			return File{Path: path, Open: path}.verify()
		}
		want, tried, found := verify(table), 0, 0
		try := func(bit int) {
			damaged := bytes.Clone(table)
			damaged[bit/8] ^= 1 << (bit % 8)
			r := verify(damaged)
			require.True(t, !r.Status.IsFine() || reflect.DeepEqual(want, r), "%v, bit %d", f, bit)
			if tried++; !r.Status.IsFine() {
				found++
			}
		}
		for bit := 0; bit < 8*len(table); bit += step {
			try(bit)
			r := verify(table[:bit/8])
			require.Equal(t, Corrupt, r.Status, "%v, %d bytes", f, bit/8)
			require.Contains(t, r.Reason, errNoTable.Error())
		}
		require.Greater(t, found, tried/2, "%v: the properties' padding does not matter", f)
		for bit := 8 * (len(table) - f.FooterSize()); bit < 8*(len(table)-magic.Len); bit++ {
			try(bit) // the footer, which has no checksum before Pebble v6
		}
	}
}

// No length or offset makes a read outside of the file, which would be an error of reading. Such an
// error is not called damage.
func TestPebbleReadAt(t *testing.T) {
	table := writePebble(t, pebblesst.TableFormatRocksDBv2, ownFilter, 9, false)
	f, err := openFile(writeFile(t, "1.sst", table), 0)
	require.NoError(t, err)
	for _, c := range []struct{ length, offset int64 }{
		{10, -1}, {10, f.size - 9}, {10, 1<<63 - 1}, {4, 0}, {f.size + 1, 0},
	} {
		err := pebbleFile{f}.ReadAt(context.Background(), make([]byte, c.length), c.offset)
		require.ErrorContains(t, err, "does not fit into the file")
	}
	opened, err := (File{}).openPebble(pebbleFile{f}, &Result{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	err = opened.keys(func(uint64, []byte) {})
	require.ErrorIs(t, err, fs.ErrClosed)
	var corruption *sstable.CorruptionError
	require.False(t, errors.As(err, &corruption))
}

// A property of a table, by its name.
type property struct {
	pebblesst.BlockPropertyCollector
	name string
}

func (p property) Name() string { return p.name }

// What Pebble's reader does not know is not called damage: versions, and what only RocksDB has.
func TestNotRead(t *testing.T) {
	const old, v4 = pebblesst.TableFormatRocksDBv2, pebblesst.TableFormatPebblev4
	inFooter := func(f pebblesst.TableFormat, at int, value byte) []byte {
		table := writePebble(t, f, ownFilter, 0, false)
		table[len(table)-f.FooterSize()+at] = value
		return table
	}
	with := func(name string) []byte {
		o := ownFilter
		o.BlockPropertyCollectors = []func() pebblesst.BlockPropertyCollector{
			func() pebblesst.BlockPropertyCollector {
				return property{pebblesst.NewTestKeysBlockPropertyCollector(), name}
			},
		}
		return writePebble(t, pebblesst.TableFormatPebblev1, o, 0, false)
	}
	compressed := func(f pebblesst.TableFormat) []byte {
		table := writePebble(t, f, ownFilter, 9, false)
		data := pebbleBlocks(t, table)[1]
		table[data.Offset+data.Length] = 2 // RocksDB's zlib
		mendChecksum(table, data)
		return table
	}
	oldest := withMeta(t, writeLevelDB(t, opt.Options{Filter: goleveldb.New(testkit.Must(
		policy.NewBloom(10)))}, 9), "rocksdb.properties")
	inParts := writePebble(t, old, ownFilter, 9, false)
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
		{with("rocksdb.prefix.extractor.name"), errRocksDB},
		{with("rocksdb.creating.session.identity"), errRocksDB},
		{compressed(v4), errNotRead},
		{compressed(old), errRocksDB},
		{oldest, errRocksDB},
		{inParts, errRocksDB},
	} {
		r := verifyFile(t, "1.sst", c.table)
		require.Contains(t, r.Reason, c.want.Error())
		require.Equal(t, c.want == errRocksDB, r.Status == Unverified)
		require.False(t, r.Status.IsFault() || r.Status.IsFine())
	}
	path := writeFile(t, "1.sst", writePebble(t, v4, ownFilter, 9, false))
	for merger, want := range map[string]Status{"": Sound, "pebble.concatenate": Sound,
		"mine": Unreadable} { // as OPTIONS name it: the engine reads no table of another one
		r := File{Path: path, Open: path, Merger: merger}.verify()
		require.Equal(t, want, r.Status, r.Reason)
	}
	damaged := verifyFile(t, "1.sst", inFooter(v4, 0, 4)) // the kind of checksums
	require.Equal(t, Corrupt, damaged.Status)
	guarded := Guard(func() error { panic("Invalid compression type.") })
	require.ErrorIs(t, guarded, errNotRead)
}

// lossy makes filters that lose a key in so many.
type lossy struct {
	v2.FilterPolicy
	keep func() bool
}

func (l lossy) NewWriter(ft v2.FilterType) v2.FilterWriter {
	return lossyWriter{l.FilterPolicy.NewWriter(ft), l.keep}
}

type lossyWriter struct {
	v2.FilterWriter
	keep func() bool
}

func (w lossyWriter) AddKey(key []byte) {
	if w.keep() {
		w.FilterWriter.AddKey(key)
	}
}

// spans returns keys of traces, three of each, and every second trace is a key too.
func spans(rng *rand.Rand, n int) (keys []string) {
	for len(keys) < n {
		trace := fmt.Sprintf("%016x", rng.Uint64())
		keys = append(keys, trace+":1", trace+":2", trace+":3")
		if len(keys)%2 == 0 {
			keys = append(keys, trace)
		}
	}
	slices.Sort(keys)
	return keys[len(keys)-n:]
}

// splitDatabase verifies tables of so many keys under the default comparer's name.
func splitDatabase(t *testing.T, f pebblesst.TableFormat, p v2.FilterPolicy,
	split func(key []byte) int, tables ...[]string,
) []*Result {
	c := *v2.DefaultComparer
	c.Split = split
	var files []File
	for _, keys := range tables {
		var file objstorage.MemObj
		w := pebblesst.NewWriter(&file, pebblesst.WriterOptions{Comparer: &c, FilterPolicy: p,
			TableFormat: f})
		for _, key := range keys {
			require.NoError(t, w.Set([]byte(key), nil))
		}
		require.NoError(t, w.Close())
		path := writeFile(t, "1.sst", file.Data())
		files = append(files, File{Path: path, Open: path, Database: true})
	}
	return Verify(files, func(int) {})
}

// Programs keep the name of the default comparer for one with a Split of their own. Then filters
// have prefixes, in each table of the database, of however few keys, and that is no fault.
func TestPrefixes(t *testing.T) {
	rng := testkit.Rand(t, 75)
	own, ours := bloom.FilterPolicy(10), pebblev2.New(testkit.Must(policy.NewRibbon(10)))
	for name, split := range map[string]func(key []byte) int{
		"before a mark": func(key []byte) int {
			prefix, _, _ := bytes.Cut(key, []byte(":"))
			return len(prefix)
		},
		"8": func(key []byte) int { return min(8, len(key)) },
		"1": func(key []byte) int { return min(1, len(key)) },
		"0": func([]byte) int { return 0 },
	} {
		for f := pebblesst.TableFormatRocksDBv2; f <= pebblesst.TableFormatMax; f++ {
			if f.BlockColumnar() && name == "0" {
				continue // Pebble panics
			}
			for _, p := range []v2.FilterPolicy{own, ours, bloom.FilterPolicy(6)} {
				results := splitDatabase(t, f, p, split, spans(rng, 1), spans(rng, 300), spans(rng, 2),
					spans(rng, 90))
				for _, r := range results {
					require.Equal(t, Unverified, r.Status, "%s, %v, %s: %s", name, f, p, r.Reason)
					require.Contains(t, r.Reason, "its filter has prefixes of the keys")
					require.Zero(t, r.FalseNegatives)
				}
			}
		}
	}
}

// Filters that lost keys are a fault, however few they lost, also where the keys have prefixes that
// are keys too, and where a prefix matches by chance.
func TestLostKeysAreNoPrefixes(t *testing.T) {
	rng := testkit.Rand(t, 76)
	paths := []string{}
	for i := range 40 {
		for _, end := range []string{"", "/file", "/file/of/mine"} {
			paths = append(paths, fmt.Sprintf("/path%03d%s", i, end))
		}
	}
	whole := func(key []byte) int { return len(key) }
	faults, all := 0, 0
	for _, keys := range [][]string{paths, spans(rng, 300), spans(rng, 2)} {
		for _, bits := range []int{5, 10} {
			for _, lost := range []int{1, 2, 3, 20, len(keys)} {
				for range 20 {
					left := rng.Perm(len(keys))
					p := lossy{bloom.FilterPolicy(bits), func() bool {
						next := left[0]
						left = left[1:]
						return next >= lost
					}}
					for _, r := range splitDatabase(t, pebblesst.TableFormatMax, p, whole, keys) {
						if r.Status != Sound { // all that were lost may match by chance
							all++
						}
						if r.Status == FalseNegative {
							faults++
						}
					}
				}
			}
		}
	}
	require.Greater(t, all, 500)
	require.Greater(t, faults, all-3, "of %d", all)
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
		table := writePebble(f, format, ownFilter, 50, false)
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
