package sstable_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A dataBlock is what a filter block knows of a data block.
type dataBlock struct {
	offset uint64
	keys   []string
}

func newBuilder(baseLg int) *sstable.FilterBlockBuilder {
	return testkit.Must(sstable.NewFilterBlockBuilder(exact.NewBuilder, baseLg))
}

func newReader(block []byte) *sstable.FilterBlockReader {
	return testkit.Must(sstable.NewFilterBlockReader(policy.MayContain, block))
}

// build makes the filter block of a table. It passes all keys in the same memory, which it
// overwrites.
func build(b *sstable.FilterBlockBuilder, blocks []dataBlock, end uint64) []byte {
	var key []byte
	for _, block := range blocks {
		b.StartBlock(block.offset)
		for _, k := range block.keys {
			key = append(key[:0], k...)
			b.AddKey(key)
			for i := range key {
				key[i] = 0xee
			}
		}
	}
	b.StartBlock(end)
	return b.Finish()
}

// A builder starts over after Finish, with nothing left of the table before, and leaves the block
// before to the caller.
func TestReuse(t *testing.T) {
	first := []dataBlock{{0, names(64)}, {9000, []string{"c"}}}
	second := []dataBlock{{0, []string{"d"}}, {100, []string{"e"}}, {2048, []string{"f"}}}
	b := newBuilder(11)
	one := build(b, first, 30000)
	kept := bytes.Clone(one)
	require.Equal(t, build(newBuilder(11), second, 2100), build(b, second, 2100))
	require.Equal(t, kept, one)
	require.Equal(t, kept, build(b, first, 30000))
}

// Filters beyond what an offset can say are left out, and all that follow, even if they would fit:
// they would be in the wrong place. Readers then answer "may contain", and exactly before.
func TestFourGigabytes(t *testing.T) {
	require.Equal(t, uint64(math.MaxUint32), newBuilder(sstable.DefaultBaseLg).MaxBytes())

	var blocks []dataBlock
	var ends []uint64 // of the filters, each in its own window
	end := uint64(0)
	for i, keys := range []string{"a", "b", "cdefghijklmnopq", "r", "s"} { // the third is too long
		blocks = append(blocks, dataBlock{uint64(i) * 3000, strings.Split(keys, "")})
		end += uint64(exact.FilterSize(len(keys)))
		ends = append(ends, end)
	}
	for limit := uint64(0); limit <= end; limit++ {
		b := newBuilder(sstable.DefaultBaseLg)
		b.SetMaxBytes(limit)
		block := build(b, blocks, 15000)
		r := newReader(block)
		require.NoError(t, r.Validate())
		windows := uint64(15000 >> 11)
		if left := slices.IndexFunc(ends, func(end uint64) bool { return end > limit }); left >= 0 {
			windows = blocks[left].offset >> 11
		}
		require.EqualValues(t, windows, r.NumFilters(), "up to the first filter that is left out")
		for _, at := range blocks {
			for _, of := range blocks {
				want := at.offset == of.offset || at.offset>>11 >= windows
				require.Equal(t, want, r.MayContain(at.offset, []byte(of.keys[0])))
			}
		}
		require.Equal(t, block, build(b, blocks, 15000), "nothing is left for the next table")
	}
}

// Misuse is refused with an error that says what to pass, and panics where a call returns none.
func TestMisuse(t *testing.T) {
	file := writeTable(tableOptions{filter: policy.NameLevelDB}, plainKeys("a", "b")...).bytes
	table := openTable(t, file)
	_, err := sstable.NewFilterBlockBuilder(nil, sstable.DefaultBaseLg)
	require.ErrorContains(t, err, "pass p.NewBuilder")
	_, err = sstable.NewFilterBlockReader(nil, nil)
	require.ErrorContains(t, err, "pass policy.MayContain")
	for _, h := range []sstable.BlockHandle{{Offset: 1 << 63}, {Length: uint64(len(file)) - 52}} {
		_, err = table.OpenFilter(sstable.FilterEntry{Handle: h})
		var corrupt *sstable.CorruptionError
		require.ErrorAs(t, err, &corrupt)
		require.ErrorContains(t, err, "lies outside the file")
		require.Equal(t, h.Offset > 0, corrupt.Offset < 0)
	}
	_, err = sstable.OpenTable(bytes.NewReader(file), int64(len(file)), nil)
	require.ErrorContains(t, err, "leave it out")
	for _, lg := range []int{-1, 64} {
		_, err = sstable.NewFilterBlockBuilder(exact.NewBuilder, lg)
		require.ErrorContains(t, err, "from 0 to 63", "base_lg %d", lg)
	}

	b := newBuilder(sstable.DefaultBaseLg)
	b.StartBlock(4096)
	b.StartBlock(5000)
	b.StartBlock(4096) // the same window: no harm
	require.PanicsWithValue(t,
		"sstable: StartBlock(4095) after a block that begins in a later window",
		func() { b.StartBlock(4095) })
	b.AddKey([]byte("a"))
	r := newReader(b.Finish())
	require.True(t, r.MayContain(4096, []byte("a")))
	require.False(t, r.MayContain(2048, []byte("a")))
	b.StartBlock(0) // another table begins at 0 again
}
