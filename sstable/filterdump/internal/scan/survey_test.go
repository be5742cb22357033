package scan

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
	"github.com/levelbloom/levelbloom/sstable/internal/policytest"
)

// The filters here are exact, so that chance hides nothing.

func TestVerified(t *testing.T) {
	table := exactTable([]string{"a", "b", "b"}, []string{"c"}, []string{"d", "e"})
	table.info.Each = append(table.info.Each, nil) // an empty window at the end
	r := surveyOf(t, table)
	require.Empty(t, r.Unverified)
	require.Empty(t, r.Unverified)
	require.Equal(t, map[string]int{"exact": 3}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Empty(t, r.Lost)
	require.EqualValues(t, 6, r.Entries)
	require.EqualValues(t, 5, r.Keys)
	require.Equal(t, 3, r.WithKeys)
	require.Equal(t, 1, r.Empty)
	require.InDelta(t, 8*12.0/6, r.BitsPerKey, 1e-9) // two bytes per key
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
}

// An empty filter says "absent" to the keys of its window, and to lookups there.
func TestEmptyFilterLosesKeys(t *testing.T) {
	table := exactTable([]string{"a"}, []string{"b"})
	table.info.Each[1] = nil
	r := surveyOf(t, table)
	require.EqualValues(t, 1, r.FalseNegatives)
	require.Equal(t, []string{"62"}, r.Lost)
}

func TestUncoveredEntriesAreNotLost(t *testing.T) {
	table := exactTable([]string{"a", "b"}, []string{"x", "y", "z"})
	table.blocks[1].filter = -1
	r := surveyOf(t, table)
	require.Empty(t, r.Unverified)
	require.Zero(t, r.FalseNegatives)
	require.EqualValues(t, 5, r.Entries)
	require.EqualValues(t, 3, r.Unfiltered)
}

// Filters under a name that is not known here are counted, and nothing else.
func TestUnknownPolicy(t *testing.T) {
	table := wholeTable(numbered(seeded(t, 1), "%06d", 0, 1000, 0.5), 10)
	table.info.Filters.Policy, table.info.Filters.Reader = "mine", nil
	r := surveyOf(t, table)
	const why = "the policy mine is not known here: if it is LevelDB's or levelbloom's under " +
		"another name, pass -bloom mine"
	require.Equal(t, why, r.Unverified)
	require.Equal(t, 1, r.WithKeys)
	require.Empty(t, r.Encodings)
}

func TestUnverifiedByThePrefixRule(t *testing.T) {
	const why = "the comparer mine is not known here"
	table := wholeTable(numbered(seeded(t, 3), "%06d", 0, 1000, 0.5), 10)
	table.blocks[0].keys = numbered(seeded(t, 4), "other%06d", 0, 1000, 0.5) // not what filters know
	table.info.Unverified = why
	r := surveyOf(t, table)
	require.Equal(t, why, r.Unverified)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, map[string]int{exactName: 1}, r.Encodings)
}

func TestNoFilter(t *testing.T) {
	table := exactTable([]string{"a", "b"})
	table.info.Filters = nil
	table.blocks[0].filter = -1
	r := surveyOf(t, table)
	require.Equal(t, &Report{
		Entries: 2, Keys: 2, Unfiltered: 2,
	}, r)

	// The filters that there would be are planned all the same.
	table.blocks[0].filter = 3
	r = surveyOf(t, table)
	require.EqualValues(t, 2, r.Unfiltered)
	p := policytest.Must(policy.NewRibbon(10))
	require.Equal(t, Plan{float64(p.FilterSize(2)) + 4*4, p.FPP(2)}, r.Ribbon)

	table.blocks = nil
	r = surveyOf(t, table)
	require.Zero(t, r.Entries)
}

// A table that is not in bytewise order has another comparer.
func TestOtherOrder(t *testing.T) {
	keys := numbered(seeded(t, 5), "%06d", 100, 1000, 0.5)
	table := wholeTable(keys, 10)
	keys[500], keys[501] = keys[501], keys[500]
	r := surveyOf(t, table)
	require.Empty(t, r.Unverified)
	require.True(t, r.Disordered)
	slices.SortFunc(keys, bytes.Compare)
	require.False(t, surveyOf(t, wholeTable(keys, 10)).Disordered)
}

// Keys that the table's reader cannot read are no fault of the table.
func TestUnreadableKeys(t *testing.T) {
	const why = "the key schema is not known"
	table := wholeTable(nil, 10)
	table.info.Each = [][]byte{
		policytest.Must(policy.NewBloom(10)).AppendFilter(nil, [][]byte{[]byte("a"), []byte("b")}),
	}
	table.err = &tables.UnsupportedError{Format: "Pebble v5", Cause: why}
	r, err := verify(table, NewSample(All))
	require.ErrorIs(t, err, table.err, "the table does not say so itself")
	require.Nil(t, r)

	table.info.Unverified = why
	r, err = verify(table, NewSample(All))
	require.NoError(t, err)
	require.Equal(t, why, r.Unverified)
	require.Zero(t, r.Entries)
}
