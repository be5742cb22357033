package sstable_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// This file writes tables, from the text of the package comment alone and with all the freedom that
// the format leaves.

// Kinds of compression, as the byte after a block.
const (
	raw      = 0
	snappied = 1
)

// tableOptions say how a table is written. The zero value has one data block for each entry, no
// compression, no filter, and the last key of each data block in the index.
type tableOptions struct {
	blockSize   int  // a data block ends when its contents have this many bytes
	interval    int  // of restarts in data blocks; 0: 1
	compression byte // of all blocks but the filter's

	policy   testPolicy // nil: no filter block
	baseLg   int        // 0: 11
	internal bool       // filters get the keys without 8 bytes at the end

	meta      []metaBlock // further blocks that the metaindex names
	indexKeys [][]byte    // other keys for the index
}

type metaBlock struct {
	name     string
	contents []byte
}

// A tableWriter has the file that it writes, and knows where its blocks are.
type tableWriter struct {
	tableOptions
	file   []byte
	begin  uint64 // the offset of the file's first byte
	data   blockWriter
	index  blockWriter
	filter *sstable.FilterBlockBuilder

	dataBlocks                         []sstable.BlockHandle
	filterBlock, metaindex, indexBlock sstable.BlockHandle
	indexSize                          int // uncompressed
}

func newTableWriter(o tableOptions, begin uint64) *tableWriter {
	w := &tableWriter{tableOptions: o, begin: begin}
	w.data.interval = o.interval
	if o.policy != nil {
		baseLg := cmp.Or(o.baseLg, 11)
		w.filter = testkit.Must(sstable.NewFilterBlockBuilder(o.policy.NewBuilder, baseLg))
		w.filter.StartBlock(begin)
	}
	return w
}

// add appends an entry. Its key is in the order of the index.
func (w *tableWriter) add(key, value []byte) {
	w.data.add(key, value)
	if w.filter != nil {
		w.filter.AddKey(w.user(key))
	}
	if w.data.size() >= w.blockSize {
		w.endBlock()
	}
}

// user returns the part of a stored key that filters know.
func (w *tableWriter) user(key []byte) []byte {
	if w.internal {
		return key[:len(key)-8]
	}
	return key
}

func (w *tableWriter) endBlock() {
	key := w.data.last
	if w.indexKeys != nil {
		key = w.indexKeys[len(w.dataBlocks)]
	}
	h := w.write(w.data.finish(), w.compression)
	w.dataBlocks = append(w.dataBlocks, h)
	w.index.add(key, encodeHandle(h))
	if w.filter != nil {
		w.filter.StartBlock(h.Offset + h.Length + 5)
	}
}

func (w *tableWriter) finish() {
	if w.data.n > 0 {
		w.endBlock()
	}
	metas := map[string]sstable.BlockHandle{}
	if w.filter != nil {
		w.filterBlock = w.write(w.filter.Finish(), raw)
		metas["filter."+w.policy.Name()] = w.filterBlock
	}
	for _, m := range w.meta {
		metas[m.name] = w.write(m.contents, raw)
	}
	metaindex := blockWriter{interval: w.interval}
	for _, name := range slices.Sorted(maps.Keys(metas)) {
		metaindex.add([]byte(name), encodeHandle(metas[name]))
	}
	w.metaindex = w.write(metaindex.finish(), w.compression)
	index := w.index.finish()
	w.indexSize = len(index)
	w.indexBlock = w.write(index, w.compression)
	w.file = append(w.file, footer(w.metaindex, w.indexBlock)...)
}

// write writes a block and what follows it.
func (w *tableWriter) write(contents []byte, compression byte) sstable.BlockHandle {
	if compression == snappied {
		contents = snappy.Encode(nil, contents)
	}
	h := sstable.BlockHandle{Offset: w.begin + uint64(len(w.file)), Length: uint64(len(contents))}
	w.file = append(w.file, withTrailer(contents, compression)...)
	return h
}

// writeTable returns a table of the entries, all values being like the keys, and its writer.
func writeTable(t testing.TB, o tableOptions, keys ...[]byte) ([]byte, *tableWriter) {
	w := newTableWriter(o, 0)
	w.addAll(keys)
	w.finish()
	return w.file, w
}

func (w *tableWriter) addAll(keys [][]byte) {
	for _, key := range keys {
		w.add(key, fmt.Appendf(nil, "value of %q", key))
	}
}

// A blockWriter makes blocks of entries.
type blockWriter struct {
	interval int
	contents []byte
	restarts []int
	last     []byte
	n        int
}

func (b *blockWriter) add(key, value []byte) {
	shared := 0
	if b.n%max(b.interval, 1) == 0 {
		b.restarts = append(b.restarts, len(b.contents))
	} else {
		for shared < len(key) && shared < len(b.last) && key[shared] == b.last[shared] {
			shared++
		}
	}
	b.contents = appendEntry(b.contents, shared, key[shared:], value)
	b.last = append(b.last[:0], key...)
	b.n++
}

func (b *blockWriter) size() int { return len(b.contents) + 4*len(b.restarts) + 4 }

func (b *blockWriter) finish() []byte {
	if b.n == 0 {
		b.restarts = append(b.restarts, 0)
	}
	block := appendRestarts(b.contents, b.restarts...)
	b.contents, b.restarts, b.n = nil, b.restarts[:0], 0
	return block
}

func appendEntry(b []byte, shared int, unshared, value []byte) []byte {
	for _, n := range []int{shared, len(unshared), len(value)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return append(append(b, unshared...), value...)
}

func appendRestarts(b []byte, restarts ...int) []byte {
	for _, r := range restarts {
		b = appendUint32(b, r)
	}
	return appendUint32(b, len(restarts))
}

func encodeHandle(h sstable.BlockHandle) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, h.Offset), h.Length)
}

func footer(metaindex, index sstable.BlockHandle) []byte {
	b := slices.Concat(encodeHandle(metaindex), encodeHandle(index))
	b = append(b, make([]byte, 40-len(b))...)
	return append(b, 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb)
}

// withTrailer appends the compression and the checksum to a block.
func withTrailer(stored []byte, compression byte) []byte {
	b := append(slices.Clone(stored), compression)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// checksum is the masked CRC-32C of a block and its compression.
func checksum(b []byte) uint32 {
	crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
}

// refresh computes the checksum of the block anew in which the file was changed at this offset. It
// returns false if there is no such block: in the footer, and in the checksum of a block.
func (w *tableWriter) refresh(file []byte, at int) bool {
	for _, h := range append(slices.Clone(w.dataBlocks), w.metaindex, w.indexBlock, w.filterBlock) {
		end := h.Offset + h.Length + 1
		if h.Offset <= uint64(at) && uint64(at) < end && end+4 <= uint64(len(file)) {
			binary.LittleEndian.PutUint32(file[end:], checksum(file[h.Offset:end]))
			return true
		}
	}
	return false
}

// internalKey returns a user key with the trailer of a database: sequence number * 256 + type.
func internalKey(user string, sequence uint64, kind byte) []byte {
	return binary.LittleEndian.AppendUint64([]byte(user), sequence<<8|uint64(kind))
}

// internalKeys returns the user keys as those of a database, one version of each.
func internalKeys(users ...string) (keys [][]byte) {
	for i, user := range users {
		keys = append(keys, internalKey(user, uint64(1000+i), 1))
	}
	return keys
}

func plainKeys(users ...string) (keys [][]byte) {
	for _, user := range users {
		keys = append(keys, []byte(user))
	}
	return keys
}

// names returns n different keys in their order.
func names(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("name-%05d%s", i*3, strings.Repeat("x", i%5)))
	}
	return keys
}

// errNoFilter is the error of openFilter for a table without a filter of the policy's name.
var errNoFilter = errors.New("no filter of this name")

// openFilter opens a table's filter of a policy's name.
func openFilter(table *sstable.Table, p testPolicy) (*sstable.TableFilter, error) {
	for _, e := range table.Filters() {
		if e.Policy == p.Name() {
			return table.OpenFilter(e, p.MayContain)
		}
	}
	return nil, errNoFilter
}

// openTable opens a table of which the test expects no error.
func openTable(t testing.TB, file []byte, opts ...sstable.TableOption) *sstable.Table {
	t.Helper()
	table, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)), opts...)
	require.NoError(t, err)
	return table
}
