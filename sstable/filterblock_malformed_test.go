package sstable_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// requireReading reads any bytes as a filter block. If they are not well formed, there are no
// filters, so the answer is "may contain" everywhere. Otherwise the filters make up the bytes, and
// the policy answers from that of the window.
func requireReading(t testing.TB, block []byte) {
	t.Helper()
	same := bytes.Clone(block)
	var asked [][]byte
	var answer bool
	r := testkit.Must(sstable.NewFilterBlockReader(func(filter, _ []byte) bool {
		asked = append(asked, filter)
		return answer
	}, block))
	var filters, starts []byte
	ends := []uint64{math.MaxUint64}
	for i := range r.NumFilters() {
		filter := r.Filter(i)
		require.Equal(t, len(filter), cap(filter), "to append to it does not overwrite the next")
		starts = appendUint32(starts, len(filters))
		filters = append(filters, filter...)
		ends = append(ends, uint64(i)<<r.BaseLg(), uint64(i+1)<<r.BaseLg()-1)
	}
	for _, offset := range append(ends, uint64(r.NumFilters())<<r.BaseLg()) {
		for _, answer = range []bool{false, true} {
			asked = nil
			may, window := r.MayContain(offset, nil), offset>>r.BaseLg()
			switch {
			case window >= uint64(r.NumFilters()):
				require.True(t, may && asked == nil, "block %x, offset %d", block, offset)
			case len(r.Filter(int(window))) == 0:
				require.False(t, may || asked != nil, "block %x, offset %d", block, offset)
			default:
				require.Equal(t, answer, may, "block %x, offset %d", block, offset)
				require.Equal(t, [][]byte{r.Filter(int(window))}, asked)
			}
		}
	}
	if err := r.Validate(); err == nil {
		tail := append(appendUint32(starts, len(filters)), byte(r.BaseLg()))
		require.Equal(t, append(filters, tail...), block)
	} else {
		var wrong *sstable.CorruptionError
		require.ErrorAs(t, err, &wrong)
		require.True(t, 0 <= wrong.Offset && wrong.Offset <= int64(len(block)))
		require.Zero(t, r.NumFilters()+r.BaseLg())
	}
	require.Equal(t, same, block, "a reader changes nothing")
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
	// That of the package comment.
	const example = "\xff\xff\xff\xff\xff\xff\xff\xff\x06\xff\xff\xff\xff\xff\xff\xff\xff\x06" +
		"\x00\x00\x00\x00\x09\x00\x00\x00\x09\x00\x00\x00\x12\x00\x00\x00\x0b"
	for _, c := range []struct {
		block []byte
		at    int
		want  string // empty: no fault
	}{
		{[]byte(example), 0, ""},
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
		err := newReader(c.block).Validate()
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
	one, several := []dataBlock{{0, []string{"a"}}}, []dataBlock{{0, []string{"a", "b"}},
		{2100, []string{"c"}}, {9000, []string{"d"}}} // some windows are empty
	f.Add(build(newBuilder(11), nil, 0))
	f.Add(build(newBuilder(11), nil, 5000))
	f.Add(build(newBuilder(11), one, 100))
	f.Add(build(newBuilder(11), several, 16000))
	f.Add(build(newBuilder(0), []dataBlock{{0, []string{"a"}}, {5, []string{"b"}}}, 9))
	f.Add(build(newBuilder(63), append(one, dataBlock{1 << 63, []string{"b"}}), math.MaxUint64))
	f.Fuzz(func(t *testing.T, block []byte) { requireReading(t, block) })
}
