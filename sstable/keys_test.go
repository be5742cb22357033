package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// AutoKeys finds the format of the keys as it is documented. Even if it is mistaken, no key is
// denied: a lookup is tried in both readings, for the key as it was given to the filter. Nor is a
// key denied in the order of another comparer: a search by the index would go astray, and so none
// is tried.
func TestAutoKeys(t *testing.T) {
	const internal, plain = sstable.InternalKeys, sstable.PlainKeys
	be, rng := binary.BigEndian.AppendUint64, policytest.Rand(t, 3)
	// Chrome's IndexedDB compares numbers before the rest, and these rise to two bytes.
	varint := func(i int) []byte {
		return fmt.Appendf(binary.AppendUvarint(nil, uint64(i)), "%09d", i)
	}
	for _, c := range []struct {
		name          string
		format, found sstable.KeyFormat
		key           func(i int) []byte
		unsorted      bool
	}{
		{"another comparer", plain, plain, varint, true},
		{"internal, another comparer", internal, internal, func(i int) []byte {
			return internalKey(string(varint(i)), uint64(1000+i), byte(i%2))
		}, true},
		{"text", plain, plain,
			func(i int) []byte { return fmt.Appendf(nil, "name-%05d", i) }, false},
		{"numbers", plain, plain, func(i int) []byte { return be(nil, uint64(i)) }, false},
		{"a prefix and numbers", plain, plain,
			func(i int) []byte { return be([]byte("t"), uint64(i)) }, false},
		// Mistaken: the last 8 bytes look like a sequence number, and all hashes are different.
		{"hashes and numbers", plain, internal,
			func(i int) []byte { return be(be(nil, rng.Uint64()), uint64(i+1)) }, false},
		{"internal numbers", internal, internal, func(i int) []byte {
			return internalKey(string(be(nil, uint64(i))), uint64(5000-i), byte(i%2))
		}, false},
		{"one user key many times", internal, internal, func(i int) []byte {
			return internalKey("the key", uint64(70000-67*i), byte(i%2))
		}, false},
		// Mistaken: no database of LevelDB has such trailers.
		{"internal, sequence number 0", internal, plain,
			func(i int) []byte { return internalKey(fmt.Sprintf("%05d", i), 0, 1) }, false},
	} {
		var stored [][]byte
		for i := range 500 {
			stored = append(stored, c.key(i))
		}
		if c.format == plain && !c.unsorted {
			slices.SortFunc(stored, bytes.Compare)
		}
		for _, size := range []int{0, 200, 1000} {
			t.Run(fmt.Sprintf("%s, blocks of %d", c.name, size), func(t *testing.T) {
				testAutoKeys(t, c.format, c.found, stored, size, c.unsorted)
			})
		}
	}
}

func testAutoKeys(t *testing.T, format, found sstable.KeyFormat, stored [][]byte, size int,
	unsorted bool) {
	o := tableOptions{blockSize: size, interval: 7, policy: exact{t}, baseLg: 8,
		internal: format == sstable.InternalKeys}
	file, w := writeTable(t, o, stored...)
	for _, keys := range []sstable.KeyFormat{sstable.AutoKeys, format} {
		table := openTable(t, file, sstable.WithKeys(keys))
		right := table.Keys() == format
		if keys == sstable.AutoKeys {
			require.Equal(t, found, table.Keys())
		}
		if right {
			requireEntries(t, table, w, stored)
		}
		filter, err := openFilter(table, exact{t})
		require.NoError(t, err)
		denied := 0
		for _, key := range stored {
			user := w.user(key)
			require.True(t, filter.MayContain(user), "key %x", user)
			if !filter.MayContain(append([]byte{0, 0}, user...)) {
				denied++
			}
			_, searched := table.FindBlock(user)
			require.Equal(t, unsorted, !searched && right)
		}
		if unsorted {
			require.Zero(t, denied)
		} else if right {
			require.Greater(t, denied, len(stored)/2)
		}
	}
}

// The majority of the keys in the index and in the first data block decides.
func TestAutoKeysMajority(t *testing.T) {
	can, cannot := internalKey("a", 9, 1), []byte("text text text")
	for _, c := range []struct {
		stored [][]byte // one block: the last key is that of the index too
		found  sstable.KeyFormat
	}{
		{[][]byte{can}, sstable.InternalKeys},
		// 2 of 3
		{[][]byte{cannot, can}, sstable.InternalKeys},
		// 2 of 4
		{[][]byte{can, internalKey("b", 9, 1), cannot}, sstable.PlainKeys},
		// 3 of 5
		{[][]byte{can, internalKey("b", 9, 1), internalKey("c", 9, 0), cannot},
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
		{[][]byte{can, internalKey("b", 9, 1), internalKey("c", 9, 1), []byte("7 bytes")},
			sstable.PlainKeys},
		{[][]byte{[]byte("7 bytes"), can, internalKey("b", 9, 1), internalKey("c", 9, 1)},
			sstable.PlainKeys},
	} {
		file, _ := writeTable(t, tableOptions{blockSize: 1 << 20}, c.stored...)
		require.Equal(t, c.found, openTable(t, file).Keys(), "%q", c.stored)
	}
}
