package verify

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// A fakeTable is a table in memory. Its filters are exact, so that chance hides nothing.
type fakeTable struct {
	table
	blocks  [][]string // keys
	indexes []uint64   // of their filters
}

// newTable returns a table that has a filter for each of these blocks of keys.
func newTable(blocks ...[]string) *fakeTable {
	t := &fakeTable{blocks: blocks}
	t.filters = &filters{mayContain: mayContain, parse: parse}
	t.keys = func(f func(filter uint64, key []byte)) error {
		var reused []byte
		for i, keys := range t.blocks {
			for _, key := range keys {
				reused = append(reused[:0], key...)
				f(t.indexes[i], reused)
				clear(reused) // whoever keeps the memory sees it change
			}
		}
		return nil
	}
	for i, keys := range blocks {
		t.indexes = append(t.indexes, uint64(i))
		t.filters.each = append(t.filters.each, filterOf(keys...))
	}
	return t
}

// filterOf returns an exact filter, which is the list of its keys.
func filterOf(keys ...string) []byte { return []byte("," + strings.Join(keys, ",") + ",") }

func mayContain(filter, key []byte) bool {
	return bytes.Contains(filter, []byte(","+string(key)+","))
}

// parse knows no filters with the key "odd".
func parse(filter []byte) (string, error) {
	if mayContain(filter, []byte("odd")) {
		return "unknown", fmt.Errorf("odd: %s", filter)
	}
	return "exact", nil
}

func surveyOf(t testing.TB, table *fakeTable) *Result {
	r := &Result{Policy: "test"}
	require.NoError(t, r.survey(&table.table, true))
	return r
}

func TestSurvey(t *testing.T) {
	many := append([]string{"a"}, slices.Repeat([]string{"b"}, 200)...)
	table := newTable(many, []string{"c"}, []string{"d", "e"})
	table.filters.each = append(table.filters.each, nil) // an empty window at the end
	r := surveyOf(t, table)
	p := testkit.Must(policy.NewRibbon(10))
	size := func(n int) float64 { return float64(p.FilterSize(n)) }
	require.InDelta(t, (201*p.FPP(201)+p.FPP(1)+2*p.FPP(2))/204, r.RibbonFPP, 1e-12)
	require.Equal(t, &Result{Status: Sound, Entries: 204, Keys: 5, Policy: "test",
		ByKind: map[string]int{"exact": 3}, RibbonFPP: r.RibbonFPP,
		RibbonBytes: size(201) + size(1) + size(2) + 4*3}, r) // LevelDB adds all versions of a key
	table.filters.once = true // and Pebble one
	require.Equal(t, 2*size(2)+size(1)+4*3, surveyOf(t, table).RibbonBytes)
}

func TestFalseNegatives(t *testing.T) {
	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprintf("key%02d", i))
	}
	table := newTable(keys[:10], keys[10:20], keys[20:])
	each := table.filters.each
	each[0] = filterOf(keys[:9]...) // lost: key09
	each[1] = filterOf(keys[9])     // in the wrong window, so all of 10 to 19 are lost
	each[2] = append(each[2], filterOf("odd")...)
	var lost []string
	for _, key := range keys[9:19] {
		lost = append(lost, hex.EncodeToString([]byte(key)))
	}
	for _, c := range []struct {
		change func()
		lost   int
	}{
		{func() {}, 11},
		{func() { each[2] = nil }, 21},        // an empty filter excludes all keys
		{func() { table.indexes[2] = 3 }, 11}, // unless it does not cover them
	} {
		c.change()
		r := surveyOf(t, table)
		require.EqualValues(t, c.lost, r.FalseNegatives)
		require.Equal(t, lost, r.Lost, "the first ten")
		require.Equal(t, FalseNegative, r.Status)
		require.Contains(t, r.Reason, fmt.Sprintf("%d of 30 entries do not match", c.lost))
	}
	table.filters.guessed = true // another kind of filters is no fault
	r := surveyOf(t, table)
	require.Equal(t, Unverified, r.Status)
	require.Contains(t, r.Reason, "the filters of the policy test are of another kind")
	require.Zero(t, r.FalseNegatives)
}

// Where filters have prefixes of the keys, one that lacks a key's prefix is a fault, and so is one
// of LevelDB's, which has no prefixes.
func TestOneWithoutPrefixes(t *testing.T) {
	prefixed := func(once bool, also ...string) *Result {
		table := newTable([]string{"a1", "b1", "c1"})
		table.filters.each[0] = filterOf(append(also, "a", "b")...)
		table.filters.once = once
		return surveyOf(t, table)
	}
	results := []*Result{prefixed(true, "c"), prefixed(true), prefixed(true, "c"),
		prefixed(false, "c")}
	excusePrefixes(results)
	for i, want := range []Status{Unverified, FalseNegative, Unverified, FalseNegative} {
		require.Equal(t, want, results[i].Status, "%d", i)
	}
}

// Nothing is called sound whose filters verify nothing, or whose keys are in doubt.
func TestDoubts(t *testing.T) {
	table := newTable([]string{"a"}, []string{"odd"}, []string{"odd", "b"})
	r := surveyOf(t, table)
	require.Equal(t, Unverified, r.Status)
	require.Equal(t, "2 of 3 filters verify nothing; the first: odd: ,odd,", r.Reason)
	require.Equal(t, map[string]int{"unknown": 2, "exact": 1}, r.ByKind)
	table.doubt, table.filters.each[0] = "its keys are in doubt", nil
	r = surveyOf(t, table)
	require.Equal(t, []any{Unverified, table.doubt}, []any{r.Status, r.Reason})
}

// The filters that there would be are planned. Blocks that are far from each other, as in a forged
// sparse file, take no memory.
func TestNoFilter(t *testing.T) {
	table := newTable([]string{"a", "b"}, []string{"c", "d"})
	table.filters = nil
	table.indexes[1] = 1 << 30
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := surveyOf(t, table)
	runtime.ReadMemStats(&after)
	const most = 1 << 26 // four bytes for each window would be 1 << 32
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most))
	p := testkit.Must(policy.NewRibbon(10))
	require.Equal(t, &Result{Policy: "test", Status: NoFilter, Entries: 4, Keys: 4,
		RibbonFPP: p.FPP(2), RibbonBytes: 2*float64(p.FilterSize(2)) + 4*(1<<30+1)}, r)
	table.blocks = nil
	require.Equal(t, &Result{Policy: "test", Status: NoFilter}, surveyOf(t, table),
		"no figure is infinite")
}
