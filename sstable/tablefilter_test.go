package sstable_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A policy of any name can read a filter if the caller says which.
func TestOpenFilter(t *testing.T) {
	p := testkit.Must(policy.NewBloom(10))
	other := testkit.Must(policy.NewBloom(10, policy.WithName("somebody.else")))
	file, _ := writeTable(t, tableOptions{policy: other}, plainKeys("a")...)
	table := openTable(t, file)
	filter, err := table.OpenFilter(table.Filters()[0], p.MayContain)
	require.NoError(t, err)
	require.True(t, filter.MayContain([]byte("a")))

	// Handles that are not the table's.
	size := uint64(len(file))
	for _, h := range []sstable.BlockHandle{
		{Offset: size - 48 - 4}, {Length: size - 48 - 4}, {Offset: 1 << 63, Length: 1 << 63},
	} {
		_, err = table.OpenFilter(sstable.FilterEntry{Handle: h}, p.MayContain)
		var corrupt *sstable.CorruptionError
		require.ErrorAs(t, err, &corrupt, "%+v", h)
		require.ErrorContains(t, err, "lies outside the file")
		require.Equal(t, h.Offset > math.MaxInt64, corrupt.Offset < 0)
	}
}

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
		block := build(newBuilder(t, c.baseLg), c.blocks, c.end)
		// As a block beside the data, under the name of a filter.
		file, w := writeTable(t, tableOptions{meta: []metaBlock{{"filter.test.Exact", block}}},
			stored...)
		filter, err := openFilter(openTable(t, file), exact{t})
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
		require.Equal(t, int64(w.dataBlocks[3].Offset+w.dataBlocks[3].Length+5), corrupt.Offset)
		require.ErrorContains(t, err, c.want)
	}
}
