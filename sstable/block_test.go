package sstable_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// Blocks of entries, well formed and not; the entries before the fault are read.
func TestBlocks(t *testing.T) {
	entry := func(shared int, unshared, value string) string {
		return string(appendEntry(nil, shared, []byte(unshared), []byte(value)))
	}
	restarts := func(offsets ...int) string { return string(appendRestarts(nil, offsets...)) }
	one := entry(0, "key", "v")                    // 7 bytes
	two := entry(0, "a", "1") + entry(0, "b", "2") // 5 bytes each
	for _, c := range []struct {
		block   string
		entries string // separated by spaces
		want    string // part of the error
	}{
		{restarts(0), "", ""},
		{restarts(), "", ""},
		{one + restarts(0), "key=v", ""},
		{one + entry(2, "xy", "") + entry(4, "", "w") + restarts(0), "key=v kexy= kexy=w", ""},
		{two + restarts(0, 5), "a=1 b=2", ""},
		{entry(0, "", "v") + entry(0, "", "w") + restarts(0), "=v =w", ""},
		{entry(0, "k", strings.Repeat("v", 300)) + restarts(0),
			"k=" + strings.Repeat("v", 300), ""},

		{"", "", "a block of 0 bytes is too short for the number of its restarts"},
		{"\x01\x00\x00\x00", "", "1 restarts in a block of 4 bytes"},
		{restarts(0, 0), "", "a restart at 0, where no entry begins"},
		{one + restarts(), "", "entries without a restart"},
		{two + restarts(5), "", "no restart at the first entry"},
		{two + restarts(0, 4), "a=1", "a restart at 4, where no entry begins"},
		{two + restarts(0, 10), "a=1 b=2", "a restart at 10, where no entry begins"},
		{two + restarts(0, 5, 5), "a=1 b=2", "a restart at 5, where no entry begins"},
		{two + restarts(0, 5, 0), "a=1 b=2", "a restart at 0, where no entry begins"},
		{one + entry(1, "x", "w") + restarts(0, 7), "key=v",
			"the entry at 7 is a restart, but shares 1 bytes with the key before"},
		{entry(1, "x", "v") + restarts(0), "", "the entry at 0 shares 1 bytes with a key of 0"},
		{one + entry(4, "x", "w") + restarts(0), "key=v",
			"the entry at 7 shares 4 bytes with a key of 3"},
		{one + "\xff\xff\xff\xff\x0f\x01\x00x" + restarts(0), "key=v",
			"shares 4294967295 bytes with a key of 3"},
		{one + "\x80\x80\x80\x80\x10\x01\x00x" + restarts(0), "key=v",
			"the entry at 7 has no valid lengths"},
		{one + "\x00\x01\x02xy" + restarts(0), "key=v",
			"the entry at 7 has 3 bytes, and 2 are left"},
		{one + "\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0fxy" + restarts(0),
			"key=v", "the entry at 7 has 8589934590 bytes, and 2 are left"},
		{"\x00\x00" + strings.Repeat("\xff", 10) + "\x01" + restarts(0),
			"", "has no valid lengths"},
		{one + "\x00\x00\x80" + restarts(0), "key=v", "the entry at 7 has no valid lengths"},
	} {
		var entries []string
		var last error
		for e, err := range openTable(t, tableOfData(storedBlock{[]byte(c.block), raw})).Entries() {
			if last = err; err == nil {
				entries = append(entries, fmt.Sprintf("%s=%s", e.Key, e.Value))
			}
		}
		require.Equal(t, c.entries, strings.Join(entries, " "), "%x", c.block)
		if c.want == "" {
			require.NoError(t, last)
		} else {
			require.ErrorContains(t, last, "sstable: corrupt at offset 0: data block 0: ")
			require.ErrorContains(t, last, c.want)
		}
	}
}

// The metaindex and the index must have handles of blocks that lie in the file, and the index in
// its order.
func TestHandles(t *testing.T) {
	// The data "block" is two empty blocks of 8 bytes with their trailers, and 100 bytes without
	// meaning.
	empty := withTrailer(rawBlock())
	data := slices.Concat(empty, empty, make([]byte, 100))
	end := uint64(len(data))
	const at0, at13 = "\x00\x08", "\x0d\x08"
	handle := func(offset, length uint64) string {
		return string(encodeHandle(sstable.BlockHandle{Offset: offset, Length: length}))
	}
	block := func(values []string) storedBlock {
		var entries [][]byte
		for i, value := range values {
			entries = append(entries, fmt.Appendf(nil, "key %d", i), []byte(value))
		}
		return rawBlock(entries...)
	}
	open := func(metaindex, index []string) error {
		file, _ := tableOf(storedBlock{data, raw}, block(metaindex), block(index))
		_, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
		return err
	}
	require.NoError(t, open([]string{at0, at13, at0}, []string{at0, at13}))
	require.NoError(t, open(nil, []string{at0 + "more, which LevelDB allows", at13 + "\xff"}))

	for value, want := range map[string]string{
		"":                       "a block handle without an offset or a length",
		"\x80":                   "a block handle without an offset or a length",
		"\x00\x80":               "a block handle without an offset or a length",
		handle(0, 1<<63):         "lies outside the file",
		handle(1<<64-1, 1<<64-1): "lies outside the file",
		handle(0, 1<<64-5):       "lies outside the file",
		handle(end+200, 0):       "lies outside the file",
		handle(end-5, end):       "lies outside the file",
	} {
		err := open([]string{at0, value}, nil)
		require.ErrorContains(t, err, "metaindex: \"key 1\": ", "%x", value)
		require.ErrorContains(t, err, want, "%x", value)
		err = open(nil, []string{at0, value})
		require.ErrorContains(t, err, "index: data block 1: ", "%x", value)
		require.ErrorContains(t, err, want, "%x", value)
	}
	for name, index := range map[string][]string{
		"twice":               {at0, at0},
		"one byte too early":  {at0, "\x0c\x08"},
		"inside of the first": {handle(0, 50), "\x0d\x08"},
	} {
		require.ErrorContains(t, open(nil, index), "index: data block 1: it begins at ", name)
	}

	// The footer's own handles: varints without end, and blocks outside of the file.
	ofFooter := func(footer []byte, want string) {
		file := slices.Concat(data, footer)
		_, err := sstable.OpenTable(bytes.NewReader(file), int64(len(file)))
		require.ErrorContains(t, err,
			fmt.Sprintf("sstable: corrupt at offset %d: footer: %s", len(data), want), "%x", footer)
	}
	good := sstable.BlockHandle{Length: 8}
	for _, handles := range []string{"", "\x00", "\x00\x08", "\x00\x08\x0d"} {
		endless := []byte(handles + strings.Repeat("\x80", 40-len(handles)))
		ofFooter(append(endless, footer(good, good)[40:]...), "a block handle without")
	}
	for _, h := range []sstable.BlockHandle{{Offset: end - 4}, {Length: end - 4}, {Offset: end},
		{Offset: 1<<64 - 1, Length: 1}, {Offset: 1, Length: 1<<64 - 1}} {
		ofFooter(footer(h, good), "a block of")
		ofFooter(footer(good, h), "a block of")
	}
	// A block may end where the footer begins.
	file := slices.Concat(data, empty,
		footer(sstable.BlockHandle{Length: 8}, sstable.BlockHandle{Offset: end, Length: 8}))
	openTable(t, file)
}
