package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
)

// An oracle is a policy that writes down which filter it reads.
type oracle struct {
	exact
	answer bool
	asked  *[]byte
}

func (o oracle) MayContain(filter, _ []byte) bool {
	*o.asked = filter
	return o.answer
}

// parse is what the package comment says of a block, said once more: the offsets of the filters,
// and the end of the last. It returns none if the block is not well formed.
func parse(block []byte) (offsets []uint32, baseLg int) {
	n := len(block)
	if n < 5 || block[n-1] > 63 {
		return nil, 0
	}
	array := uint64(binary.LittleEndian.Uint32(block[n-5:]))
	if array > uint64(n-5) || (uint64(n-5)-array)%4 != 0 {
		return nil, 0
	}
	for at := array; at < uint64(n-1); at += 4 {
		offsets = append(offsets, binary.LittleEndian.Uint32(block[at:]))
	}
	if offsets[0] != 0 || !slices.IsSorted(offsets) {
		return nil, 0
	}
	return offsets, int(block[n-1])
}

// requireReading looks up a key in any bytes, at all offsets that matter, and compares the answers
// with the package comment's.
func requireReading(t testing.TB, block []byte) {
	t.Helper()
	same := bytes.Clone(block)
	var asked []byte
	no := newReader(t, oracle{answer: false, asked: &asked}, block)
	yes := newReader(t, oracle{answer: true, asked: &asked}, block)

	offsets, baseLg := parse(block)
	num := uint64(max(1, len(offsets)) - 1)
	require.Equal(t, offsets != nil, no.Validate() == nil, "block %x: %v", block, no.Validate())
	if offsets == nil {
		var wrong *sstable.CorruptionError
		require.ErrorAs(t, no.Validate(), &wrong)
		require.GreaterOrEqual(t, wrong.Offset, int64(0))
		require.LessOrEqual(t, wrong.Offset, int64(len(block)))
	}
	require.EqualValues(t, num, no.NumFilters())
	require.Equal(t, baseLg, no.BaseLg())
	places := []uint64{1 << 32, 1 << 63, math.MaxUint64}
	for window := range num + 2 {
		places = append(places, window<<baseLg, window<<baseLg+(1<<baseLg-1))
	}
	for _, offset := range places {
		asked = nil
		answers := []bool{no.MayContain(offset, nil), yes.MayContain(offset, nil)}
		window := offset >> baseLg
		if window >= num {
			require.Equal(t, []bool{true, true}, answers, "block %x, offset %d", block, offset)
			require.Nil(t, asked)
			continue
		}
		filter := block[offsets[window]:offsets[window+1]]
		require.Equal(t, []bool{false, len(filter) > 0}, answers, "block %x, offset %d", block, offset)
		require.True(t, bytes.Equal(filter, asked))
		ours := no.Filter(int(window))
		require.True(t, bytes.Equal(filter, ours))
		require.Equal(t, len(ours), cap(ours), "to append to it does not overwrite the next")
	}
	require.Equal(t, same, block, "a reader changes nothing")
}

// filterBlocks are small sound blocks: with several windows, empty ones, one filter, none, and
// another base_lg.
func filterBlocks(t testing.TB) [][]byte {
	return [][]byte{
		build(newBuilder(t, sstable.DefaultBaseLg), nil, 0),
		build(newBuilder(t, sstable.DefaultBaseLg), nil, 5000),
		build(newBuilder(t, sstable.DefaultBaseLg), []dataBlock{{0, []string{"a"}}}, 100),
		build(newBuilder(t, sstable.DefaultBaseLg), []dataBlock{{0, []string{"a", "b"}}, {2100, []string{"c"}},
			{9000, []string{"d"}}}, 16000),
		build(newBuilder(t, 0),
			[]dataBlock{{0, []string{"a"}}, {5, []string{"b"}}}, 9),
		build(newBuilder(t, 63),
			[]dataBlock{{0, []string{"a"}}, {1 << 63, []string{"b"}}}, math.MaxUint64),
	}
}

// What Validate says of each fault, and where.
func TestValidate(t *testing.T) {
	le := binary.LittleEndian.AppendUint32
	// block puts together the filters' bytes, the offsets and the tail.
	block := func(filters int, array uint32, baseLg byte, offsets ...uint32) []byte {
		b := bytes.Repeat([]byte{7}, filters)
		for _, o := range offsets {
			b = le(b, o)
		}
		return append(le(b, array), baseLg)
	}
	const ends = "and the last one ends at 9"
	for _, c := range []struct {
		block []byte
		at    int
		want  string // empty: no fault
	}{
		{block(0, 0, 11), 0, ""},
		{block(9, 9, 63, 0, 4, 4), 0, ""},
		{nil, 0, "0 bytes, and the shortest filter block has 5"},
		{[]byte{0, 0, 0, 11}, 0, "4 bytes, and the shortest filter block has 5"},
		{block(9, 9, 64, 0, 4), 21, "windows of 2^64 bytes, and offsets have 64 bits"},
		{block(0, 0, 255), 4, "windows of 2^255 bytes, and offsets have 64 bits"},
		{block(9, 18, 11, 0, 4), 17, "the offsets should begin at 18, beyond the end"},
		{block(9, math.MaxUint32, 11, 0, 4), 17,
			"the offsets should begin at 4294967295, beyond the end"},
		{block(9, 9, 11), 9, "the first filter begins at 9 instead of 0"},
		{block(9, 8, 11, 0, 4), 17, "9 bytes for offsets of 4 bytes each"},
		{block(9, 9, 11, 1, 4), 9, "the first filter begins at 1 instead of 0"},
		{block(9, 9, 11, 0, 5, 4), 17, "filter 2 begins at 4, the one before at 5, " + ends},
		{block(9, 9, 11, 0, 10), 13, "filter 1 begins at 10, the one before at 0, " + ends},
		// Here C++ LevelDB and goleveldb say "absent" to all keys of window 1.
		{block(9, 9, 11, 0, 100, 100, 9), 13,
			"filter 1 begins at 100, the one before at 0, " + ends},
	} {
		requireReading(t, c.block)
		err := newReader(t, exact{t}, c.block).Validate()
		if c.want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, fmt.Sprintf(
				"sstable: corrupt at offset %d: filter block: %s", c.at, c.want))
		}
	}
}

// Any bytes as a filter block: LevelDB's answer, or "may contain" if it is not well formed.
func FuzzFilterBlockReader(f *testing.F) {
	for _, block := range filterBlocks(f) {
		f.Add(block)
	}
	f.Fuzz(func(t *testing.T, block []byte) { requireReading(t, block) })
}
