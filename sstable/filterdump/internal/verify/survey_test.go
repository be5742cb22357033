package scan

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A fakeTable is a table in memory. Its filters are exact, so that chance hides nothing.
type fakeTable struct {
	tables.Table
	info    tables.Info
	blocks  [][]string // keys
	filters []int      // of the blocks
	err     error      // of Keys, after the entries
}

func (t *fakeTable) Info() *tables.Info { return &t.info }

func (t *fakeTable) Keys(f func(filter int, key []byte)) error {
	var reused []byte
	for i, keys := range t.blocks {
		for _, key := range keys {
			reused = append(reused[:0], key...)
			f(t.filters[i], reused)
			for i := range reused { // whoever keeps the memory sees it change
				reused[i] = 0xaa
			}
		}
	}
	return t.err
}

// newTable returns a table that has a filter for each of these blocks of keys.
func newTable(blocks ...[]string) *fakeTable {
	t := &fakeTable{blocks: blocks, info: tables.Info{Filters: &tables.Filters{
		Policy: "test", Layout: "window", MayContain: mayContain, Parse: parse}}}
	for i, keys := range blocks {
		t.filters = append(t.filters, i)
		t.info.Each = append(t.info.Each, filterOf(keys...))
	}
	return t
}

// filterOf returns an exact filter, which is the list of its keys.
func filterOf(keys ...string) (filter []byte) {
	for _, key := range keys {
		filter = binary.AppendUvarint(filter, uint64(len(key)))
		filter = append(filter, key...)
	}
	return filter
}

func mayContain(filter, key []byte) bool {
	for len(filter) > 0 {
		n, width := binary.Uvarint(filter)
		if bytes.Equal(filter[width:width+int(n)], key) {
			return true
		}
		filter = filter[width+int(n):]
	}
	return false
}

// parse knows no filters with the key "odd".
func parse(filter []byte) (string, error) {
	if mayContain(filter, []byte("odd")) {
		return "unknown", fmt.Errorf("odd: %x", filter)
	}
	return "exact", nil
}

// surveyOf returns the report on a table, and the doubt.
func surveyOf(t testing.TB, table tables.Table) (*Report, string) {
	r, doubt, err := survey(table, true)
	require.NoError(t, err)
	return r, doubt
}

func TestVerified(t *testing.T) {
	many := append([]string{"a"}, slices.Repeat([]string{"b"}, 200)...)
	table := newTable(many, []string{"c"}, []string{"d", "e"})
	table.info.Each = append(table.info.Each, nil) // an empty window at the end
	r, doubt := surveyOf(t, table)
	require.Empty(t, doubt)
	ribbon := r.Ribbon
	r.Ribbon = Plan{}
	require.Equal(t, &Report{Entries: 204, Keys: 5, WithKeys: 3, Empty: 1, BitsPerKey: 16,
		Encodings: map[string]int{"exact": 3}}, r)

	// LevelDB adds all versions of a key to a filter, Pebble one.
	p := testkit.Must(policy.NewRibbon(10))
	size := func(n int) float64 { return float64(p.FilterSize(n)) }
	require.Equal(t, size(201)+size(1)+size(2)+4*3, ribbon.Bytes)
	require.InDelta(t, (201*p.FPP(201)+p.FPP(1)+2*p.FPP(2))/204, ribbon.FPP, 1e-12)
	table.info.Layout = "table"
	r, _ = surveyOf(t, table)
	require.Equal(t, 2*size(2)+size(1)+4*3, r.Ribbon.Bytes)
}

func TestFalseNegatives(t *testing.T) {
	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprintf("key%02d", i))
	}
	table := newTable(keys[:10], keys[10:20], keys[20:])
	each := table.info.Each
	each[0] = filterOf(keys[:9]...) // lost: key09
	each[1] = filterOf(keys[9])     // in the wrong window, so all of 10 to 19 are lost
	each[2] = append(each[2], filterOf("more")...)
	var lost []string
	for _, key := range keys[9:19] {
		lost = append(lost, hex.EncodeToString([]byte(key)))
	}
	each[2] = append(each[2], filterOf("odd")...) // the filters that are known are compared
	for _, c := range []struct {
		change   func()
		lost     int
		filtered int
	}{
		{func() {}, 11, 30},
		{func() { each[2] = nil }, 21, 30},         // an empty filter excludes all keys
		{func() { table.filters[2] = -1 }, 11, 20}, // unless it does not cover them
	} {
		c.change()
		report, doubt := surveyOf(t, table)
		require.EqualValues(t, c.lost, report.FalseNegatives)
		require.Equal(t, lost, report.Lost, "the first ten")
		require.EqualValues(t, 30-c.filtered, report.Unfiltered)
		r := &Result{}
		r.judge(report, doubt)
		require.Equal(t, FalseNegative, r.Status)
		require.Contains(t, r.Reason, fmt.Sprintf("%d of 30 entries do not match", c.lost))
		require.Contains(t, r.Reason, lost[9]+", ...")
	}
}

// Nothing is called sound whose filters nobody knows, or verify nothing, or whose index may hide
// keys.
func TestDoubts(t *testing.T) {
	table := newTable([]string{"a"}, []string{"odd"}, []string{"odd", "b"})
	r, doubt := surveyOf(t, table)
	require.Equal(t, "2 of 3 filters verify nothing; the first: odd: 036f6464", doubt)
	require.Equal(t, map[string]int{"unknown": 2, "exact": 1}, r.Encodings)

	table.info.MayContain, table.info.Parse = nil, nil
	r, doubt = surveyOf(t, table)
	require.Equal(t, "the policy test is not known here: if it is LevelDB's or levelbloom's under "+
		"another name, pass --policies test", doubt)
	require.Equal(t, 3, r.WithKeys)
	require.Equal(t, map[string]int{}, r.Encodings)

	table.err = &sstable.CorruptionError{Cause: sstable.ErrIndexOrder}
	_, _, err := survey(table, true)
	require.ErrorIs(t, err, sstable.ErrIndexOrder)
	r, doubt, err = survey(table, false)
	require.NoError(t, err)
	require.Contains(t, doubt, "its index is not in bytewise order")
	require.EqualValues(t, 4, r.Entries)
	table.err = errors.New("another")
	_, _, err = survey(table, false)
	require.ErrorIs(t, err, table.err)
}

// The filters that there would be are planned. Blocks that are far from each other, as in a forged
// sparse file, take no memory.
func TestNoFilter(t *testing.T) {
	table := newTable([]string{"a", "b"}, []string{"c", "d"})
	table.info.Filters = nil
	table.filters[1] = 1 << 30
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, _ := surveyOf(t, table)
	runtime.ReadMemStats(&after)
	const most = 1 << 26 // four bytes for each window would be 1 << 32
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most))
	p := testkit.Must(policy.NewRibbon(10))
	require.Equal(t, &Report{Entries: 4, Keys: 4, Unfiltered: 4,
		Ribbon: Plan{2*float64(p.FilterSize(2)) + 4*(1<<30+1), p.FPP(2)}}, r)

	table.blocks = nil
	r, _ = surveyOf(t, table)
	require.Equal(t, &Report{}, r, "no figure is infinite")
	r, _ = surveyOf(t, newTable())
	require.Zero(t, r.BitsPerKey)
}
