package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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

// levelDBFilter is how LevelDB 1.23 reads a filter block (table/filter_block.cc): it returns the
// filter that it asks for a block at this offset, or else the answer that it gives without asking.
func levelDBFilter(block []byte, offset uint64) (filter []byte, asks, answer bool) {
	n := uint64(len(block))
	if n < 5 {
		return nil, false, true
	}
	baseLg := block[n-1]
	array := uint64(binary.LittleEndian.Uint32(block[n-5:]))
	if array > n-5 {
		return nil, false, true
	}
	num := (n - 5 - array) / 4
	if index := offset >> baseLg; index < num {
		start := uint64(binary.LittleEndian.Uint32(block[array+index*4:]))
		limit := uint64(binary.LittleEndian.Uint32(block[array+index*4+4:]))
		if start <= limit && limit <= array {
			return block[start:limit], true, false
		} else if start == limit {
			return nil, false, false
		}
	}
	return nil, false, true
}

// wellFormed is what the package comment demands of a block, said once more.
func wellFormed(block []byte) bool {
	n := len(block)
	if n < 5 || block[n-1] > 63 {
		return false
	}
	array := uint64(binary.LittleEndian.Uint32(block[n-5:]))
	if array > uint64(n-5) || (uint64(n-5)-array)%4 != 0 {
		return false
	}
	var offsets []uint32 // of the filters, and the end of the last
	for at := array; at < uint64(n-1); at += 4 {
		offsets = append(offsets, binary.LittleEndian.Uint32(block[at:]))
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			return false
		}
	}
	return offsets[0] == 0
}

// requireReading looks up a key in any bytes, at all offsets that matter, and compares the answers
// with LevelDB's and with the package comment.
func requireReading(t testing.TB, block []byte) {
	t.Helper()
	same := bytes.Clone(block)
	var asked []byte
	no := newReader(t, oracle{answer: false, asked: &asked}, block)
	yes := newReader(t, oracle{answer: true, asked: &asked}, block)

	valid := wellFormed(block)
	require.Equal(t, valid, no.Validate() == nil, "block %x: %v", block, no.Validate())
	if !valid {
		var wrong *sstable.CorruptionError
		require.ErrorAs(t, no.Validate(), &wrong)
		require.GreaterOrEqual(t, wrong.Offset, int64(0))
		require.LessOrEqual(t, wrong.Offset, int64(len(block)))
		require.Zero(t, no.NumFilters())
		require.Zero(t, no.BaseLg())
	}

	offsets := []uint64{0, 1, 2047, 2048, 4096, 1 << 20, 1<<32 - 1, 1 << 32, 1 << 63,
		math.MaxUint64}
	if valid {
		require.Equal(t, int(block[len(block)-1]), no.BaseLg())
		for window := range uint64(no.NumFilters()) + 2 {
			offsets = append(offsets, window<<no.BaseLg(), window<<no.BaseLg()+(1<<no.BaseLg()-1))
		}
	}
	for _, offset := range offsets {
		if !valid {
			require.True(t, no.MayContain(offset, nil), "block %x, offset %d", block, offset)
			continue
		}
		asked = nil
		noAnswer, yesAnswer := no.MayContain(offset, nil), yes.MayContain(offset, nil)
		filter, asks, answer := levelDBFilter(block, offset)
		if asks {
			// LevelDB reads empty filters too, and its Bloom policy says "absent".
			require.Equal(t, []bool{false, len(filter) > 0}, []bool{noAnswer, yesAnswer},
				"block %x, offset %d", block, offset)
			require.Equal(t, filter, append([]byte{}, asked...))
			ours := no.Filter(int(offset >> no.BaseLg()))
			require.Equal(t, filter, append([]byte{}, ours...))
			require.Equal(t, len(ours), cap(ours), "to append to it does not overwrite the next")
		} else {
			require.Equal(t, []bool{answer, answer}, []bool{noAnswer, yesAnswer},
				"block %x, offset %d", block, offset)
			require.Nil(t, asked)
		}
	}
	require.Equal(t, same, block, "a reader changes nothing")
}

// filterBlocks are small sound blocks: with several windows, empty ones, one filter, none, and
// another base_lg.
func filterBlocks(t testing.TB) [][]byte {
	return [][]byte{
		build(newBuilder(t), nil, 0),
		build(newBuilder(t), nil, 5000),
		build(newBuilder(t), []dataBlock{{0, []string{"a"}}}, 100),
		build(newBuilder(t), []dataBlock{{0, []string{"a", "b"}}, {2100, []string{"c"}},
			{9000, []string{"d"}}}, 16000),
		build(newBuilder(t, sstable.WithBaseLg(0)),
			[]dataBlock{{0, []string{"a"}}, {5, []string{"b"}}}, 9),
		build(newBuilder(t, sstable.WithBaseLg(63)),
			[]dataBlock{{0, []string{"a"}}, {1 << 63, []string{"b"}}}, math.MaxUint64),
	}
}

// Filter blocks that were cut, and those with any other value of a byte.
func TestChangedFilterBlocks(t *testing.T) {
	valid, invalid, step := 0, 0, 1
	if testing.Short() {
		step = 5
	}
	for _, block := range filterBlocks(t) {
		for i := range block {
			requireReading(t, block[:i:i])
			requireReading(t, bytes.Clone(block[i:]))
			for c := 0; c < 256; c += step {
				changed := bytes.Clone(block)
				changed[i] = byte(c)
				requireReading(t, changed)
				if wellFormed(changed) {
					valid++
				} else {
					invalid++
				}
			}
		}
	}
	require.Greater(t, valid, 5000/step)
	require.Greater(t, invalid, 10000/step)
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

func FuzzFilterBlockReader(f *testing.F) {
	for _, block := range filterBlocks(f) {
		f.Add(block)
	}
	f.Fuzz(func(t *testing.T, block []byte) { requireReading(t, block) })
}
