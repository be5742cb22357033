package sstable_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// Filters where no data block begins, and data blocks whose window has an empty filter, are errors.
func TestFiltersThatDoNotFit(t *testing.T) {
	stored := plainKeys("a", "b", "c", "d")
	_, w := writeTable(t, tableOptions{}, stored...)
	var offsets []uint64
	for _, h := range w.dataBlocks {
		offsets = append(offsets, h.Offset)
	}
	require.Equal(t, []uint64{0, 29, 58, 87}, offsets)
	for _, c := range []struct {
		name   string
		baseLg int
		blocks []dataBlock
		end    uint64
		want   string
	}{
		{"sound", 6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}}, 124,
			""},
		{"windows of one block", 5, []dataBlock{{0, []string{"a", "b"}}, {58, []string{"c"}},
			{87, []string{"d"}}}, 124, ""},
		{"fewer filters", 6, []dataBlock{{0, []string{"a", "b", "c"}}}, 64, ""},
		{"no filters", 6, nil, 0, ""},
		{"empty filters after the last block", 6,
			[]dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}}, 300, ""},
		{"a filter after the last block", 6, []dataBlock{{0, []string{"a", "b", "c"}},
			{87, []string{"d"}}, {200, []string{"e"}}}, 300,
			"filter 3 of windows of 2^6 bytes has keys, and no data block begins there"},
		{"a filter where no block begins", 4, []dataBlock{{0, []string{"a"}}, {29, []string{"b"}},
			{40, []string{"x"}}, {58, []string{"c"}}, {87, []string{"d"}}}, 124,
			"filter 2 of windows of 2^4 bytes has keys, and no data block begins there"},
		{"an empty filter where a block begins", 4,
			[]dataBlock{{0, []string{"a"}}, {29, []string{"b"}}, {87, []string{"d"}}}, 124,
			"filter 3 of windows of 2^4 bytes is empty, and a data block begins at 58"},
		{"an empty filter where the first block begins", 6, []dataBlock{{87, []string{"d"}}}, 124,
			"filter 0 of windows of 2^6 bytes is empty, and a data block begins at 0"},
		{"an empty filter where the last block begins", 6,
			[]dataBlock{{0, []string{"a", "b", "c"}}}, 128,
			"filter 1 of windows of 2^6 bytes is empty, and a data block begins at 87"},
	} {
		t.Run(c.name, func(t *testing.T) {
			block := build(newBuilder(t, sstable.WithBaseLg(c.baseLg)), c.blocks, c.end)
			// As a block beside the data, under the name of a filter.
			file, w := writeTable(t, tableOptions{meta: []metaBlock{{"filter.test.Exact", block}}},
				stored...)
			table := openTable(t, file)
			filter, err := table.Filter(exact{t})
			if c.want == "" {
				require.NoError(t, err)
				for _, key := range stored {
					require.True(t, filter.MayContain(key))
				}
				return
			}
			require.Nil(t, filter)
			var corrupt *sstable.CorruptionError
			require.ErrorAs(t, err, &corrupt)
			require.Equal(t, int64(w.dataBlocks[3].Offset+w.dataBlocks[3].Length+5), corrupt.Offset)
			require.ErrorContains(t, err, c.want)
			require.False(t, errors.Is(err, sstable.ErrNoFilter))
		})
	}
	// A malformed filter block is told by its own error, inside of the file's.
	file, _ := writeTable(t,
		tableOptions{meta: []metaBlock{{"filter.test.Exact", []byte{1, 0, 0, 0, 11}}}}, stored...)
	_, err := openTable(t, file).Filter(exact{t})
	var wrong *sstable.FilterBlockError
	require.ErrorAs(t, err, &wrong)
	var corrupt *sstable.CorruptionError
	require.ErrorAs(t, err, &corrupt)
}
