package sstable_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// refreshAll computes the checksums of all blocks anew that can be reached, as far as their handles
// make sense.
func refreshAll(file []byte) {
	if len(file) < 48 {
		return
	}
	refresh := func(h sstable.BlockHandle) {
		size := uint64(len(file) - 48)
		if h.Length > size || h.Offset > size || h.Offset+h.Length+5 > size {
			return
		}
		end := h.Offset + h.Length + 1
		binary.LittleEndian.PutUint32(file[end:], checksum(file[h.Offset:end]))
	}
	handles := file[len(file)-48 : len(file)-8]
	for range 2 {
		var h sstable.BlockHandle
		for _, field := range []*uint64{&h.Offset, &h.Length} {
			x, n := binary.Uvarint(handles)
			if n <= 0 {
				return
			}
			*field, handles = x, handles[n:]
		}
		refresh(h)
	}
	table, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return
	}
	for i := range table.Blocks() {
		refresh(table.Block(i))
	}
	for _, m := range table.Metaindex() {
		refresh(m.Handle)
	}
}

// readAny reads any bytes as a table, in all ways: an error or entries, but no panic, no loop
// without end, and no more memory than the file could fill. A filter that can be opened answers any
// question.
func readAny(t *testing.T, file []byte) {
	for _, format := range []sstable.KeyFormat{sstable.AutoKeys, sstable.InternalKeys,
		sstable.PlainKeys} {
		before := allocated()
		examineAll(t, file, nil, policytest.Must(policy.NewBloom(10)), sstable.WithKeys(format))
		n := allocated() - before
		require.Less(t, n, uint64(4<<20+4*(128<<10)/4*len(file)), "bytes allocated")
		ask(t, file, format)
	}
}

// Any bytes, as they are and with the right checksums.
func FuzzTable(f *testing.F) {
	for _, v := range victims(f, policytest.Must(policy.NewBloom(10))) {
		f.Add(v.file)
	}
	f.Add(ribbonVictim(f).file)
	golden := filepath.Join("..", "testdata", "leveldb", "tables")
	for _, name := range []string{"one_key/000005.ldb", "raw_tablebuilder/empty.ldb",
		"raw_tablebuilder/nofilter_empty.ldb", "raw_tablebuilder/flush_each.ldb"} {
		file, err := os.ReadFile(filepath.Join(golden, filepath.FromSlash(name)))
		require.NoError(f, err)
		f.Add(file)
	}
	rocks, err := os.ReadFile(filepath.Join("..", "testdata", "rocksdb", "fv0_full_bloom.sst"))
	require.NoError(f, err)
	f.Add(rocks)

	f.Fuzz(func(t *testing.T, file []byte) {
		readAny(t, file)
		file = bytes.Clone(file)
		refreshAll(file)
		readAny(t, file)
	})
}

// smallRibbonBlock is a filter block with one ribbon filter, of a key of 0 bytes.
var smallRibbonBlock = func() []byte {
	filter := policytest.Must(policy.NewRibbon(40)).AppendFilter(nil, [][]byte{nil})
	return append(filter, 0, 0, 0, 0, byte(len(filter)), 0, 0, 0, 63) // offset, end, base_lg
}()

// Any bytes as two data blocks, their keys in the index, and a filter block, in a table that is
// sound otherwise.
func FuzzBlocks(f *testing.F) {
	for _, v := range victims(f, policytest.Must(policy.NewBloom(10))) {
		table := openTable(f, v.file)
		if table.Blocks() < 2 {
			continue
		}
		part := func(h sstable.BlockHandle) []byte { return v.file[h.Offset:][:h.Length] }
		for _, filters := range [][]byte{part(v.w.filterBlock), smallRibbonBlock} {
			f.Add(part(table.Block(0)), part(table.Block(1)), v.w.indexKeys[0], v.w.indexKeys[1],
				filters, v.w.compression)
		}
	}
	f.Fuzz(func(t *testing.T, data1, data2, key1, key2, filter []byte, compression byte) {
		var file []byte
		put := func(stored []byte, compression byte) sstable.BlockHandle {
			h := sstable.BlockHandle{Offset: uint64(len(file)), Length: uint64(len(stored))}
			file = append(file, withTrailer(stored, compression)...)
			return h
		}
		index, metaindex := blockWriter{interval: 1}, blockWriter{interval: 1}
		index.add(key1, encodeHandle(put(data1, compression)))
		index.add(key2, encodeHandle(put(data2, compression)))
		metaindex.add([]byte("filter.leveldb.BuiltinBloomFilter2"), encodeHandle(put(filter, raw)))
		file = append(file, footer(put(metaindex.finish(), raw), put(index.finish(), raw))...)
		readAny(t, file)
	})
}

// ask opens all filters and asks them for the keys of the table, and for some that are not in it.
func ask(t testing.TB, file []byte, format sstable.KeyFormat) {
	r := bytes.NewReader(file)
	table, err := sstable.OpenTable(r, r.Size(), sstable.WithKeys(format))
	if err != nil {
		return
	}
	for _, e := range table.Filters() {
		filter, err := table.OpenFilter(e, policytest.Must(policy.NewBloom(10)))
		if err != nil {
			continue
		}
		question := func(key []byte) {
			block, ok := table.FindBlock(key)
			require.Equal(t, ok, ok && block < table.Blocks())
			if !filter.MayContain(key) && filter.Windows() != nil && format != sstable.AutoKeys {
				require.True(t, ok, "without a block no filter is asked")
				require.False(t, filter.MayContainAt(table.Block(block).Offset, key))
			}
		}
		for _, key := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte{0xff}, 20)} {
			question(key)
		}
		for e, err := range table.Entries() {
			if err != nil {
				break
			}
			question(e.Key)
		}
	}
}
