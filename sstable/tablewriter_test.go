package sstable_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"
	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
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

// exact makes all filters: they have so many bits that no key here is a false positive.
var exact = testkit.Must(policy.NewRibbon(40))

// tableOptions say how a table is written. The zero value has one data block for each entry, no
// compression, no filter, and the last key of each data block in the index.
type tableOptions struct {
	perBlock    int    // entries in a data block; 0: 1
	interval    int    // of restarts; 0: 1
	compression byte   // of all blocks but filters
	begin       uint64 // the offset of the file's first byte

	filter   string // the name of its policy; "": no filter block
	baseLg   int    // 0: 11
	internal bool   // filters get the keys without 8 bytes at the end

	meta      []string // names and contents of further blocks, behind the filter in the metaindex
	indexKeys [][]byte // other keys for the index
}

// A tableFile is a table, and knows what is in it, and where.
type tableFile struct {
	tableOptions
	bytes  []byte
	stored [][]byte // the keys
	users  []string // the part of them that filters know

	dataBlocks                         []sstable.BlockHandle
	filterBlock, metaindex, indexBlock sstable.BlockHandle
}

func (f *tableFile) end() uint64 { return f.begin + uint64(len(f.bytes)) }

// put appends a block, and what follows it.
func (f *tableFile) put(b storedBlock) sstable.BlockHandle {
	h := sstable.BlockHandle{Offset: f.end(), Length: uint64(len(b.stored))}
	f.bytes = append(f.bytes, withTrailer(b)...)
	return h
}

// finish appends the last two blocks and the footer.
func (f *tableFile) finish(metaindex, index storedBlock) {
	f.metaindex, f.indexBlock = f.put(metaindex), f.put(index)
	f.bytes = append(f.bytes, footer(f.metaindex, f.indexBlock)...)
}

// writeTable writes a table of stored keys. The value of each tells it.
func writeTable(o tableOptions, keys ...[]byte) *tableFile {
	return writeBlocks(o, slices.Collect(slices.Chunk(keys, max(o.perBlock, 1)))...)
}

// writeBlocks writes a table of data blocks of stored keys.
func writeBlocks(o tableOptions, blocks ...[][]byte) *tableFile {
	f := &tableFile{tableOptions: o}
	encode := func(entries [][]byte) storedBlock {
		b := blockOf(max(o.interval, 1), entries...)
		if o.compression == snappied {
			b = snappy.Encode(nil, b)
		}
		return storedBlock{b, o.compression}
	}
	filter := testkit.Must(sstable.NewFilterBlockBuilder(exact.NewBuilder, cmp.Or(o.baseLg, 11)))
	var index, metaindex [][]byte
	for i, keys := range blocks {
		var entries [][]byte
		filter.StartBlock(f.end())
		for _, key := range keys {
			user := key
			if o.internal {
				user = key[:len(key)-8]
			}
			filter.AddKey(user)
			f.stored, f.users = append(f.stored, key), append(f.users, string(user))
			entries = append(entries, key, fmt.Appendf(nil, "value of %q", key))
		}
		h := f.put(encode(entries))
		f.dataBlocks = append(f.dataBlocks, h)
		if o.indexKeys != nil {
			keys = o.indexKeys[i:][:1]
		}
		index = append(index, keys[len(keys)-1], encodeHandle(h))
	}
	filter.StartBlock(f.end())
	if o.filter != "" {
		f.filterBlock = f.put(storedBlock{filter.Finish(), raw})
		metaindex = append(metaindex, []byte("filter."+o.filter), encodeHandle(f.filterBlock))
	}
	for i := 0; i < len(o.meta); i += 2 {
		h := f.put(storedBlock{[]byte(o.meta[i+1]), raw})
		metaindex = append(metaindex, []byte(o.meta[i]), encodeHandle(h))
	}
	f.finish(encode(metaindex), encode(index))
	return f
}

// A storedBlock is a block as it is in a file, before its trailer.
type storedBlock struct {
	stored      []byte
	compression byte
}

// rawBlock returns the block of these entries: keys, each followed by its value.
func rawBlock(entries ...[]byte) storedBlock { return storedBlock{blockOf(1, entries...), raw} }

// blockOf does so with other intervals of restarts.
func blockOf(interval int, entries ...[]byte) (block []byte) {
	var restarts []int
	var last []byte
	for i := 0; i < len(entries); i += 2 {
		key, shared := entries[i], 0
		if i/2%interval == 0 {
			restarts = append(restarts, len(block))
		} else if bytes.Equal(key, last) { // long ones are
			shared = len(key)
		} else {
			for shared < min(len(key), len(last)) && key[shared] == last[shared] {
				shared++
			}
		}
		block = appendEntry(block, shared, key[shared:], entries[i+1])
		last = key
	}
	if restarts == nil { // as the engines do
		restarts = []int{0}
	}
	return appendRestarts(block, restarts...)
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

func appendUint32(b []byte, n int) []byte { return binary.LittleEndian.AppendUint32(b, uint32(n)) }

func encodeHandle(h sstable.BlockHandle) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, h.Offset), h.Length)
}

func footer(metaindex, index sstable.BlockHandle) []byte {
	b := slices.Concat(encodeHandle(metaindex), encodeHandle(index))
	b = append(b, make([]byte, 40-len(b))...)
	return append(b, levelDBMagic...)
}

// withTrailer appends the compression and the checksum to a block.
func withTrailer(b storedBlock) []byte {
	stored := append(slices.Clone(b.stored), b.compression)
	return binary.LittleEndian.AppendUint32(stored, checksum(stored))
}

// checksum is the masked CRC-32C of a block and its compression.
func checksum(b []byte) uint32 {
	crc := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (crc>>15 | crc<<17) + 0xa282ead8
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

// errNoFilter is the error of openFilter for a table without filters of this name.
var errNoFilter = errors.New("no filter of LevelDB's name")

func openFilter(table *sstable.Table) (*sstable.TableFilter, error) {
	for _, e := range table.Filters() {
		if e.Policy == policy.NameLevelDB {
			return table.OpenFilter(e)
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
