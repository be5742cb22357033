package sstable_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

const changedName = "changed.ldb"

// examine reads the whole table, in which user keys were written. It reports whether it is sound:
// without an error that says that it is corrupt, or no table, or has no filter of this name, and
// without a key that its filter does not know. Then each key must be read, and found.
func examine(t testing.TB, file []byte, users []string) (sound bool) {
	table, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)),
		sstable.WithFileName(changedName))
	if err != nil {
		requireCorrupt(t, err)
		return false
	}
	filter, filterErr := openFilter(table)
	if filterErr != nil {
		requireCorrupt(t, filterErr)
	}
	left, n, denied := map[string]bool{}, 0, false
	for _, user := range users {
		left[user] = true
	}
	for e, err := range table.Entries() {
		if err != nil {
			requireCorrupt(t, err)
			return false
		}
		// An entry has 3 bytes at least, and snappy decodes 3 bytes to 64 at most.
		if n++; n > 22*len(file) {
			t.Fatalf("entries without end in %x", file)
		}
		delete(left, string(e.Key))
		if filter != nil {
			filter.MayContain(e.Key) // any answer, but no panic
			denied = denied || !filter.Windows().MayContain(table.Block(e.Block).Offset, e.Key)
		}
	}
	if filterErr != nil || denied {
		return false
	}
	for _, user := range users {
		if left[user] || !filter.MayContain([]byte(user)) {
			t.Fatalf("key %q is lost, without an error, in %x", user, file)
		}
	}
	return true
}

// requireCorrupt demands an error that names the file and says what is wrong with it, or
// errNoFilter.
func requireCorrupt(t testing.TB, err error) {
	var corrupt *sstable.CorruptionError
	var format *sstable.FormatError
	if !(errors.As(err, &corrupt) && corrupt.File == changedName && corrupt.Cause != nil ||
		errors.As(err, &format) && format.File == changedName || err == errNoFilter) {
		t.Fatalf("%T: %v", err, err)
	}
}

// allocated returns the bytes that were ever allocated.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// victims are small tables, which the tests damage: of internal and plain keys, compressed or not,
// with many windows, with several versions of keys, of one entry, and empty.
func victims(t testing.TB) (all []*tableFile) {
	var versions [][]byte
	for i, user := range []string{"", "a", "ab", "b"} {
		for s := range uint64(4) {
			versions = append(versions, internalKey(user, 300*uint64(i)+260-s, byte(s%2)))
		}
	}
	several := tableOptions{filter: policy.NameLevelDB, internal: true, perBlock: 2, interval: 2}
	snappy, windows, plain := several, several, several
	snappy.compression = snappied
	windows.baseLg = 5 // some are empty
	plain.internal = false
	all = []*tableFile{
		writeTable(several, internalKeys(names(8)...)...),
		writeTable(snappy, internalKeys(names(12)...)...),
		writeTable(windows, internalKeys(names(9)...)...),
		writeTable(plain, plainKeys(names(9)...)...),
		writeTable(windows, versions...),
		writeTable(several, internalKeys("a")...),
		writeTable(plain),
	}
	for _, f := range all {
		require.True(t, examine(t, f.bytes, f.users))
	}
	return all
}

// refresh computes the checksum of the block anew in which the file was changed at this offset. It
// returns false if there is no such block: in the footer, and in the checksum of a block.
func (f *tableFile) refresh(file []byte, at int) bool {
	for _, h := range append(slices.Clone(f.dataBlocks), f.metaindex, f.indexBlock, f.filterBlock) {
		if end := h.Offset + h.Length + 1; h.Offset <= uint64(at) && uint64(at) < end {
			binary.LittleEndian.PutUint32(file[end:], checksum(file[h.Offset:end]))
			return true
		}
	}
	return false
}

// A table whose bytes change, or whose ends are cut off, with its old checksums: an error, or
// nothing is lost. With checksums computed anew no reader can know that the bytes are not those
// that were written. Still, if all entries are read, then a lookup of each of them in the filter
// where it is shows whether the filter knows it.
func TestFlips(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 13
	}
	tried, sound := 0, 0 // with checksums computed anew
	for _, f := range victims(t) {
		// No reader reads the zeros of the footer, and the varint before them may end in one of them.
		zeros := len(f.bytes) - 48 + len(encodeHandle(f.metaindex)) + len(encodeHandle(f.indexBlock))
		for i := 0; i < 3*len(f.bytes); i += step {
			at, flip := i/3, []byte{0x01, 0x80, 0xff}[i%3]
			changed := bytes.Clone(f.bytes)
			changed[at] ^= flip
			harmless := zeros <= at && at < len(f.bytes)-8 || at == zeros-1 && flip == 0x80
			if examine(t, changed, f.users) && !harmless {
				t.Fatalf("byte %d, flip %#x: no error in %x", at, flip, f.bytes)
			}
			if f.refresh(changed, at) {
				if tried++; examine(t, changed, f.users) {
					sound++
				}
			}
			require.False(t, examine(t, f.bytes[:at], f.users))
			require.False(t, examine(t, f.bytes[at+1:], f.users))
		}
	}
	require.True(t, 0 < sound && sound < tried, "each outcome happens")
}

// readAny reads any bytes as a table: an error or entries, but no panic, no loop
// without end, and no more memory than the file could fill. A filter that can be opened answers any
// question.
func readAny(t *testing.T, file []byte) {
	before := allocated()
	examine(t, file, nil)
	n := allocated() - before
	require.Less(t, n, uint64(4<<20+64*22*len(file)), "bytes allocated")
}

// Any bytes. FuzzBlocks gives them the right checksums.
func FuzzTable(f *testing.F) {
	for _, v := range victims(f) {
		f.Add(v.bytes)
	}
	f.Fuzz(readAny)
}

// Any bytes as two data blocks, their keys in the index, and a filter block, in a table that is
// sound otherwise.
func FuzzBlocks(f *testing.F) {
	for _, v := range victims(f) {
		if len(v.dataBlocks) < 2 {
			continue
		}
		part := func(i int) []byte { return v.bytes[v.dataBlocks[i].Offset:][:v.dataBlocks[i].Length] }
		filter := v.bytes[v.filterBlock.Offset:][:v.filterBlock.Length]
		f.Add(part(0), part(1), v.stored[0], v.stored[len(v.stored)-1], filter, v.compression)
	}
	f.Fuzz(func(t *testing.T, data1, data2, key1, key2, filter []byte, compression byte) {
		var table tableFile
		h1 := encodeHandle(table.put(storedBlock{data1, compression}))
		h2 := encodeHandle(table.put(storedBlock{data2, compression}))
		hf := encodeHandle(table.put(storedBlock{filter, raw}))
		table.finish(rawBlock([]byte("filter."+policy.NameLevelDB), hf), rawBlock(key1, h1, key2, h2))
		readAny(t, table.bytes)
	})
}
