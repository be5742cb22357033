package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
	"github.com/levelbloom/levelbloom/sstable"
)

// A keyShape is a kind of stored keys: what they are, and what AutoKeys takes them for.
type keyShape struct {
	name   string
	format sstable.KeyFormat
	found  sstable.KeyFormat
	stored [][]byte
}

func keyShapes(t testing.TB) []keyShape {
	const internal, plain = sstable.InternalKeys, sstable.PlainKeys
	rng := policytest.Rand(t, 3)
	be := binary.BigEndian.AppendUint64
	// make returns n keys in LevelDB's order of their format.
	make := func(n int, f func(i int) []byte) (keys [][]byte) {
		for i := range n {
			keys = append(keys, f(i))
		}
		return keys
	}
	sorted := func(keys [][]byte) [][]byte {
		slices.SortFunc(keys, bytes.Compare)
		return slices.CompactFunc(keys, bytes.Equal)
	}
	random := func(n int) []byte {
		b := bytes.Repeat([]byte{0}, n)
		rng.Read(b)
		return b
	}
	return []keyShape{
		{"text", plain, plain, plainKeys(names(300)...)},
		{"short text", plain, plain,
			sorted(make(300, func(i int) []byte { return fmt.Appendf(nil, "k%d", i) }))},
		{"zero-padded numbers", plain, plain,
			make(300, func(i int) []byte { return fmt.Appendf(nil, "%016d", i*7) })},
		{"8-byte counters", plain, plain,
			make(1000, func(i int) []byte { return be(nil, uint64(i)) })},
		{"8-byte counters from 1", plain, plain,
			make(1000, func(i int) []byte { return be(nil, uint64(i+1)) })},
		{"8-byte counters, far apart", plain, plain,
			make(300, func(i int) []byte { return be(nil, uint64(i+1)<<20) })},
		{"16-byte counters", plain, plain,
			make(1000, func(i int) []byte { return be(be(nil, 0), uint64(i)) })},
		{"a prefix and counters", plain, plain,
			make(1000, func(i int) []byte { return be([]byte("t"), uint64(i)) })},
		{"hashes", plain, plain, sorted(make(300, func(int) []byte { return random(32) }))},
		{"hashes and a short key", plain, plain, append([][]byte{[]byte("\x00")},
			sorted(make(300, func(i int) []byte { return be(random(8), uint64(i+1)) }))...)},
		// Mistaken: the last 8 bytes look like a sequence number, and all hashes are different.
		{"hashes and counters", plain, internal,
			sorted(make(300, func(i int) []byte { return be(random(8), uint64(i+1)) }))},
		{"hashes and one number", plain, internal,
			sorted(make(300, func(int) []byte { return be(random(20), 1) }))},

		{"internal text", internal, internal, internalKeys(names(300)...)},
		{"internal, the empty key and short ones", internal, internal,
			internalKeys("", "\x00", "a", "aa", "ab", "b")},
		{"internal counters", internal, internal, make(1000, func(i int) []byte {
			return internalKey(string(be(nil, uint64(i))), uint64(5000-i), byte(i%2))
		})},
		{"internal hashes", internal, internal, internalKeys(func() (users []string) {
			for _, h := range sorted(make(300, func(int) []byte { return random(20) })) {
				users = append(users, string(h))
			}
			return users
		}()...)},
		{"one user key many times", internal, internal, make(1000,
			func(i int) []byte { return internalKey("the key", uint64(70000-67*i), byte(i%2)) })},
		{"few user keys many times", internal, internal, make(1000, func(i int) []byte {
			return internalKey(string(rune('a'+i/100)), uint64(70000-i), 1)
		})},
		{"internal, an early sequence", internal, internal, internalKeys("a")},
		{"internal, sequence number 1", internal, internal, [][]byte{internalKey("a", 1, 1)}},
		// Mistaken: no database of LevelDB has such trailers.
		{"internal, sequence number 0", internal, plain,
			make(300, func(i int) []byte { return internalKey(fmt.Sprintf("%05d", i), 0, 1) })},
		{"internal, other types", internal, plain, make(300,
			func(i int) []byte { return internalKey(fmt.Sprintf("%05d", i), uint64(i+1), 2) })},

		{"one plain key", plain, plain, plainKeys("some key")},
		{"one long plain key", plain, plain, plainKeys("some key that is longer")},
		{"the empty plain key", plain, plain, plainKeys("")},
		{"nothing", plain, plain, nil},
	}
}

// AutoKeys finds the format of the keys as it is documented. Even if it is mistaken, no key is
// denied: a lookup is tried in both readings, for the key as it was given to the filter.
func TestAutoKeys(t *testing.T) {
	for _, shape := range keyShapes(t) {
		for _, size := range []int{0, 200, 1000} {
			for _, short := range []bool{false, true} {
				name := fmt.Sprintf("%s, blocks of %d, short index keys %v",
					shape.name, size, short)
				t.Run(name, func(t *testing.T) {
					o := tableOptions{blockSize: size, interval: 7, policy: exact{t}, baseLg: 8,
						internal: shape.format == sstable.InternalKeys}
					if short && o.internal {
						o.indexKey = shortInternalIndexKey
					} else if short {
						o.indexKey = shortIndexKey
					}
					file, w := writeTable(t, o, shape.stored...)
					users := shape.stored
					if o.internal {
						users = nil
						for _, key := range shape.stored {
							users = append(users, key[:len(key)-8])
						}
					}
					for _, format := range []sstable.KeyFormat{sstable.AutoKeys, shape.format} {
						table := openTable(t, file, sstable.WithKeys(format))
						switch {
						case format != sstable.AutoKeys:
							require.Equal(t, shape.format, table.Keys())
						case shape.found == sstable.InternalKeys &&
							shape.format == sstable.PlainKeys && short:
							// The index keys may be too short for internal ones.
						default:
							require.Equal(t, shape.found, table.Keys())
						}
						if table.Keys() == shape.format {
							requireEntries(t, table, w, shape.stored)
						}
						filter, err := table.Filter(exact{t})
						require.NoError(t, err)
						for _, user := range users {
							require.True(t, filter.MayContain(user), "key %x", user)
						}
						if table.Keys() == shape.format && len(users) > 10 {
							denied := 0
							for _, user := range users {
								if !filter.MayContain(append([]byte{0, 0}, user...)) {
									denied++
								}
							}
							require.Greater(t, denied, len(users)/2)
						}
					}
				})
			}
		}
	}
}

// RocksDB's properties tell that the keys are internal, however they look.
func TestAutoKeysWithProperties(t *testing.T) {
	properties := (&blockWriter{}).finish()
	file, _ := writeTable(t, tableOptions{meta: []metaBlock{{"rocksdb.properties", properties}}},
		plainKeys("text that is long")...)
	require.Equal(t, sstable.InternalKeys, openTable(t, file).Keys())
	require.Equal(t, sstable.PlainKeys,
		openTable(t, file, sstable.WithKeys(sstable.PlainKeys)).Keys())
	file, _ = writeTable(t, tableOptions{meta: []metaBlock{{"rocksdb.properties2", properties}}},
		plainKeys("text that is long")...)
	require.Equal(t, sstable.PlainKeys, openTable(t, file).Keys())
}

// AutoKeys looks at the keys of the index and of the first data block, and the majority decides.
func TestAutoKeysMajority(t *testing.T) {
	can, cannot := internalKey("a", 9, 1), []byte("text text text")
	for _, c := range []struct {
		stored [][]byte // one block: the last key is that of the index too
		found  sstable.KeyFormat
	}{
		{[][]byte{can}, sstable.InternalKeys},
		// 1 of 3
		{[][]byte{can, cannot}, sstable.PlainKeys},
		// 2 of 3
		{[][]byte{cannot, can}, sstable.InternalKeys},
		// 2 of 4
		{[][]byte{can, internalKey("b", 9, 1), cannot}, sstable.PlainKeys},
		// 3 of 5
		{[][]byte{can, internalKey("b", 9, 1), internalKey("c", 9, 0), cannot},
			sstable.InternalKeys},
		{[][]byte{internalKey("a", 9, 1), internalKey("a", 8, 0), internalKey("a", 7, 1)},
			sstable.InternalKeys},
		// rising
		{[][]byte{internalKey("a", 7, 1), internalKey("a", 8, 0), internalKey("a", 9, 1),
			internalKey("a", 10, 1)}, sstable.PlainKeys},
		// equal
		{[][]byte{internalKey("a", 7, 1), internalKey("a", 7, 1), internalKey("a", 7, 1),
			internalKey("a", 7, 1)}, sstable.PlainKeys},
		{[][]byte{internalKey("a", 7, 1), internalKey("b", 8, 1), internalKey("a", 9, 1),
			internalKey("b", 10, 1)}, sstable.InternalKeys},
		{[][]byte{internalKey("a", 9, 2)}, sstable.PlainKeys},
		{[][]byte{internalKey("a", 0, 0)}, sstable.PlainKeys},
		{[][]byte{internalKey("a", 1, 0)}, sstable.InternalKeys},
		{[][]byte{internalKey("", 1<<56-1, 1)}, sstable.InternalKeys},
		{[][]byte{can, internalKey("b", 9, 1), internalKey("c", 9, 1), []byte("7 bytes")},
			sstable.PlainKeys},
		{[][]byte{[]byte("7 bytes"), can, internalKey("b", 9, 1), internalKey("c", 9, 1)},
			sstable.PlainKeys},
		{[][]byte{nil, can, internalKey("b", 9, 1), internalKey("c", 9, 1)}, sstable.PlainKeys},
	} {
		file, _ := writeTable(t, tableOptions{blockSize: 1 << 20}, c.stored...)
		require.Equal(t, c.found, openTable(t, file).Keys(), "%q", c.stored)
	}
}

// The first data block counts with the index: alone the index keys of small tables are too few.
func TestAutoKeysFirstBlock(t *testing.T) {
	first := internalKeys("a", "b", "c", "d", "e", "f", "g", "h")
	var file bytes.Buffer
	w := newTableWriter(t, &file, tableOptions{blockSize: 1 << 20,
		indexKey: func(_, _ []byte) []byte { return []byte("text text") }})
	for _, key := range first {
		w.add(key, nil)
	}
	w.endBlock()
	w.add([]byte("text text"), nil)
	w.finish()
	require.Equal(t, sstable.InternalKeys, openTable(t, file.Bytes()).Keys())

	// If it cannot be read, the index alone decides, and Entries says what is wrong.
	broken := file.Bytes()
	broken[0] ^= 1
	table := openTable(t, broken)
	require.Equal(t, sstable.PlainKeys, table.Keys())
	for _, err := range table.Entries() {
		require.ErrorContains(t, err,
			"table: corrupt at offset 0: data block 0: the block's checksum is")
	}
}

func TestKeyFormatString(t *testing.T) {
	require.Equal(t, "auto internal plain KeyFormat(7)", fmt.Sprint(sstable.AutoKeys, " ",
		sstable.InternalKeys, " ", sstable.PlainKeys, " ", sstable.KeyFormat(7)))
}
