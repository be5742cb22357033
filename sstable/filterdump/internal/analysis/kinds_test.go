package analysis

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/filters"
)

const (
	exactName  = "LevelDB Bloom"
	ribbonName = "ribbon"
)

// Dense keys, which LevelDB's encoding does not do well on: ribbon filters keep their rate, in
// windows and in one filter, and are measured as they are.
func TestTablesOfRibbonFilters(t *testing.T) {
	set := numbered(seeded(t, 1), "user%016d", 0, 20_000, 0.63)
	p := mustRibbon(t, 7.2)
	for layout, table := range map[string]*fakeTable{
		"windows":    windowTableOf(p, set.present, 4096, 11),
		"one filter": wholeTableOf(p.AppendFilter(nil, set.present), set.present),
	} {
		r := analyze(t, table, Options{})
		require.True(t, r.Verified, layout)
		require.Zero(t, r.FalseNegatives)
		require.Equal(t, ribbonName, r.Encoding())
		require.Equal(t, map[string]int{ribbonName: r.Filters}, r.Encodings)
		require.Empty(t, r.Probes)
		require.Zero(t, r.Fill)
		require.InEpsilon(t, len(set.present), r.Distinct, 0.02)
		require.Empty(t, r.Malformed)
		for _, rate := range []Rate{r.Between, r.Random} {
			slack := 5 * math.Sqrt(*r.FPP/float64(rate.Asked)) // standard errors
			require.InDelta(t, *r.FPP, rate.Rate, slack+0.03**r.FPP,
				"%s: the FPP is what keys of all kinds get", layout)
		}
		require.Nil(t, advised(r, "between your keys"), "%q", r.Advice)
	}
}

// Filters of one table may be of several encodings.
func TestMixedTable(t *testing.T) {
	keys := numbered(seeded(t, 2), "user%016d", 0, 6000, 0.63).present
	table := windowTable(t, keys, 10, 4096, 11)
	each := table.info.Filters.Each
	larger := windowTableOf(mustBloom(t, 15), keys, 4096, 11).info.Filters.Each
	ribbon := windowTableOf(mustRibbon(t, 10), keys, 4096, 11).info.Filters.Each
	want := map[string]int{}
	for i := range each {
		if i < len(each)/3 {
			each[i] = larger[i]
		} else if i < len(each)/2 {
			each[i] = ribbon[i]
		}
		if len(each[i]) > 0 {
			name, _, err := filters.LevelDB.Parse(each[i])
			require.NoError(t, err)
			want[name]++
		}
	}
	require.Len(t, want, 2)
	r := analyze(t, table, Options{})
	require.True(t, r.Verified)
	require.Zero(t, r.FalseNegatives)
	require.Equal(t, want, r.Encodings)
	require.Equal(t, fmt.Sprintf("%d filters of %s; %d filters of %s", want[exactName], exactName,
		want[ribbonName], ribbonName), r.Encoding())
	require.Equal(t, []int{6, 10}, r.Probes)
	require.InEpsilon(t, len(keys), r.Distinct, 0.25,
		"in small filters of LevelDB's, dense keys set few bits")
	require.Contains(t, r.Advice[0],
		fmt.Sprintf("%d filters of %d (ribbon): only levelbloom reads them", want[ribbonName],
			r.Filters))

	// Lost keys are seen in both.
	first, last := table.blocks[0], table.blocks[len(table.blocks)-1]
	for _, filter := range [][]byte{each[first.filter], each[last.filter]} {
		_, info, err := filters.LevelDB.Parse(filter)
		require.NoError(t, err)
		clear(info.Payload)
	}
	r = analyze(t, table, Options{})
	require.EqualValues(t, len(first.keys)+len(last.keys), r.FalseNegatives)
}

// A filter that cannot be parsed is not verified, and says so; the others are.
func TestUnknownKinds(t *testing.T) {
	keys := numbered(seeded(t, 3), "key%08d", 0, 3000, 0.5).present
	table := windowTable(t, keys, 10, 65536, 16)
	each := table.info.Filters.Each
	require.Greater(t, len(each), 4)
	for i, last := range []byte{0xee, 0xee, 0xef, 0} {
		each[i] = slices.Clone(each[i])
		each[i][len(each[i])-1] = last
	}
	r := analyze(t, table, Options{Absent: 3000})
	require.False(t, r.Verified)
	for _, want := range []string{
		fmt.Sprintf("2 of %d filters: unknown encoding 0xee", r.Filters),
		fmt.Sprintf("1 of %d filters: unknown encoding 0xef", r.Filters),
		fmt.Sprintf("1 of %d filters: k is 0", r.Filters),
	} {
		require.Contains(t, r.Unverified, want)
	}
	require.Equal(t, map[string]int{"unknown": 3, exactName: r.Filters - 3}, r.Encodings)
	require.Zero(t, r.FalseNegatives)
	require.Greater(t, r.Random.Rate, 4/float64(r.Filters)-0.01, "these four match all keys")
	require.Positive(t, r.Between.Asked, "the others tell, and so do these")

	clear(each[4][:len(each[4])-1])
	r = analyze(t, table, Options{Absent: 3000})
	require.Positive(t, r.FalseNegatives, "the filters that are known lose no key")

	each[0] = each[0][:1] // matches no key
	r = analyze(t, table, Options{Absent: 3000})
	require.Contains(t, r.Unverified, "shorter than 2 bytes")
}
