package sstable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// readAny reads any bytes as a table: an error or entries, but no panic, no loop
// without end, and no more memory than the file could fill. A filter that can be opened answers any
// question.
func readAny(t *testing.T, file []byte) {
	before := allocated()
	examine(t, file, nil, testkit.Must(policy.NewBloom(10)))
	n := allocated() - before
	require.Less(t, n, uint64(4<<20+64*22*len(file)), "bytes allocated")
}

// Any bytes. FuzzBlocks gives them the right checksums.
func FuzzTable(f *testing.F) {
	for _, v := range victims(f, testkit.Must(policy.NewBloom(10))) {
		f.Add(v.file)
	}
	f.Fuzz(readAny)
}

// Any bytes as two data blocks, their keys in the index, and a filter block, in a table that is
// sound otherwise.
func FuzzBlocks(f *testing.F) {
	for _, v := range victims(f, testkit.Must(policy.NewBloom(10))) {
		table := openTable(f, v.file)
		if table.Blocks() < 2 {
			continue
		}
		part := func(h sstable.BlockHandle) []byte { return v.file[h.Offset:][:h.Length] }
		first, last := []byte(v.users[0]), []byte(v.users[len(v.users)-1])
		f.Add(part(table.Block(0)), part(table.Block(1)), first, last, part(v.w.filterBlock),
			v.w.compression)
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
