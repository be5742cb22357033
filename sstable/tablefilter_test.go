package sstable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
)

// Filters where no data block begins, and data blocks whose window has an empty filter, are errors.
func TestFiltersThatDoNotFit(t *testing.T) {
	stored := plainKeys("a", "b", "c", "d")
	f := writeTable(tableOptions{}, stored...)
	for i, h := range f.dataBlocks {
		require.EqualValues(t, 29*i, h.Offset)
	}
	for _, c := range []struct {
		baseLg int
		blocks []dataBlock
		end    uint64
		want   string
	}{
		{6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}}, 124, ""},
		{6, []dataBlock{{0, []string{"a", "b", "c"}}}, 64, ""}, // fewer filters
		{6, nil, 0, ""},
		// Empty filters after the last block.
		{6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}}, 300, ""},
		{6, []dataBlock{{0, []string{"a", "b", "c"}}, {87, []string{"d"}}, {200, []string{"e"}}},
			300, "filter 3 of windows of 2^6 bytes has keys, and no data block begins there"},
		{4, []dataBlock{{0, []string{"a"}}, {29, []string{"b"}}, {40, []string{"x"}},
			{58, []string{"c"}}, {87, []string{"d"}}}, 124,
			"filter 2 of windows of 2^4 bytes has keys, and no data block begins there"},
		{4, []dataBlock{{0, []string{"a"}}, {29, []string{"b"}}, {87, []string{"d"}}}, 124,
			"filter 3 of windows of 2^4 bytes is empty, and a data block begins at 58"},
		{6, []dataBlock{{0, []string{"a", "b", "c"}}}, 128,
			"filter 1 of windows of 2^6 bytes is empty, and a data block begins at 87"},
	} {
		block := build(newBuilder(c.baseLg), c.blocks, c.end)
		// As a block beside the data, under the name of a filter.
		meta := []string{"filter." + policy.NameLevelDB, string(block)}
		f := writeTable(tableOptions{meta: meta}, stored...)
		filter, err := openFilter(openTable(t, f.bytes))
		if c.want == "" {
			require.NoError(t, err)
			for _, key := range stored {
				require.True(t, filter.MayContain(key))
			}
			continue
		}
		require.Nil(t, filter)
		var corrupt *sstable.CorruptionError
		require.ErrorAs(t, err, &corrupt)
		require.EqualValues(t, 4*29, corrupt.Offset)
		require.ErrorContains(t, err, c.want)
	}
}
