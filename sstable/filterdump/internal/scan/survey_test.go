package scan

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// Most filters here are exact, so that chance hides nothing.

func TestVerified(t *testing.T) {
	table := exactTable([]string{"a", "b", "b"}, []string{"c"}, []string{"d", "e"})
	table.info.Each = append(table.info.Each, nil) // an empty window at the end
	r := surveyOf(t, table)
	require.Empty(t, r.Unverified)
	require.Equal(t, map[string]int{"exact": 3}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Empty(t, r.Lost)
	require.EqualValues(t, 6, r.Entries)
	require.EqualValues(t, 5, r.Keys)
	require.Equal(t, 3, r.WithKeys)
	require.Equal(t, 1, r.Empty)
	require.InDelta(t, 8*12.0/6, r.BitsPerKey, 1e-9) // two bytes per key

	// LevelDB adds all versions of a key to a filter, Pebble one.
	p := policytest.Must(policy.NewRibbon(10))
	size := func(n int) float64 { return float64(p.FilterSize(n)) }
	require.Equal(t, size(3)+size(1)+size(2)+4*3, r.Ribbon.Bytes)
	require.InDelta(t, (3*p.FPP(3)+p.FPP(1)+2*p.FPP(2))/6, r.Ribbon.FPP, 1e-12)
	table.info.Layout = tables.PerTable
	require.Equal(t, 2*size(2)+size(1)+4*3, surveyOf(t, table).Ribbon.Bytes)
}

func TestFalseNegatives(t *testing.T) {
	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprintf("key%02d", i))
	}
	table := exactTable(keys[:10], keys[10:20], keys[20:])
	each := table.info.Each
	each[0] = exact{}.filter(keys[:9]...) // lost: key09
	each[1] = exact{}.filter(keys[9])     // in the wrong window, so all of 10 to 19 are lost
	each[2] = append(each[2], exact{}.filter("more")...)

	r := surveyOf(t, table)
	require.Empty(t, r.Unverified)
	require.EqualValues(t, 11, r.FalseNegatives)
	var want []string
	for _, key := range keys[9:19] {
		want = append(want, hex.EncodeToString([]byte(key)))
	}
	require.Equal(t, want, r.Lost)

	each[2] = nil // an empty filter excludes the keys of its window
	require.EqualValues(t, 21, surveyOf(t, table).FalseNegatives)
	table.blocks[2].filter = -1 // unless it does not cover them
	r = surveyOf(t, table)
	require.EqualValues(t, 11, r.FalseNegatives)
	require.EqualValues(t, 30, r.Entries)
	require.EqualValues(t, 10, r.Unfiltered)
}

// A filter that cannot be parsed is not verified, and the report says so. The others are.
func TestUnknownEncodings(t *testing.T) {
	table := bloomTable([]string{"a"}, []string{"b"}, []string{"c"}, []string{"d"}, []string{"e"})
	each := table.info.Each
	for i, last := range []byte{0xee, 0xef, 0} {
		each[i][len(each[i])-1] = last
	}
	r := surveyOf(t, table)
	require.Equal(t, "3 of 5 filters verify nothing; the first: unknown encoding 0xee: every key "+
		"may be contained", r.Unverified)
	require.Equal(t, map[string]int{"unknown": 2, "LevelDB Bloom": 3}, r.Encodings)
	require.Zero(t, r.FalseNegatives)

	clear(each[4][:len(each[4])-1])
	r = surveyOf(t, table)
	require.EqualValues(t, 1, r.FalseNegatives, "the filters that are known are compared")

	each[0] = each[0][:1] // matches no key
	require.Contains(t, surveyOf(t, table).Unverified, "shorter than 2 bytes")
}

// Filters under a name that is not known here are counted, and nothing else.
func TestUnknownPolicy(t *testing.T) {
	table := bloomTable([]string{"a"})
	table.info.Reader = nil
	r := surveyOf(t, table)
	const why = "the policy test is not known here: if it is LevelDB's or levelbloom's under " +
		"another name, pass --bloom test"
	require.Equal(t, why, r.Unverified)
	require.Equal(t, 1, r.WithKeys)
	require.Empty(t, r.Encodings)
}

// Nothing is called lost where nobody knows what the filters know of a key, or keys are not read.
func TestUnverified(t *testing.T) {
	const why = "the comparer mine is not known here"
	table := bloomTable([]string{"a", "b"})
	table.blocks[0].keys = []string{"others", "than", "filters", "know"}
	table.info.Unverified = why
	r := surveyOf(t, table)
	require.Equal(t, why, r.Unverified)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, map[string]int{"LevelDB Bloom": 1}, r.Encodings)

	table.blocks, table.err = nil, &tables.UnsupportedError{Format: "Pebble v5", Cause: why}
	r = surveyOf(t, table)
	require.Equal(t, why, r.Unverified)
	require.Zero(t, r.Entries)

	table.info.Unverified = "" // the table does not say so itself
	_, err := verify(table, NewSample(All))
	require.ErrorIs(t, err, table.err)
}

// The filters that there would be are planned. Blocks that are far from each other, as in a forged
// sparse file, take no memory.
func TestNoFilter(t *testing.T) {
	table := exactTable([]string{"a", "b"}, []string{"c", "d"})
	table.info.Filters = nil
	table.blocks[1].filter = 1 << 30
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := surveyOf(t, table)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<26), "four bytes for each window would be 1<<32")
	p := policytest.Must(policy.NewRibbon(10))
	require.Equal(t, Plan{2*float64(p.FilterSize(2)) + 4*(1<<30+1), p.FPP(2)}, r.Ribbon)
	require.EqualValues(t, 4, r.Entries)
	require.EqualValues(t, 4, r.Unfiltered)

	table.blocks = nil
	r = surveyOf(t, table)
	require.Equal(t, &Report{}, r)
	_, err := json.Marshal(r) // no figure is infinite
	require.NoError(t, err)
}

// A table that is not in bytewise order has another comparer.
func TestOtherOrder(t *testing.T) {
	require.True(t, surveyOf(t, exactTable([]string{"a", "c", "b"})).Disordered)
	require.False(t, surveyOf(t, exactTable([]string{"a", "b", "b", "c"})).Disordered)
}
