package analysis

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

func TestTotals(t *testing.T) {
	table := func(keys int64, bits float64) *Report {
		return &Report{Keys: keys, WithKeys: 2, KeysPerFilter: 50, BitsPerKey: bits,
			Encodings: map[string]int{"ribbon": 2}}
	}
	var s Totals
	for _, r := range []*Report{table(100, 10), table(300, 30), table(1000, 0), {Keys: 9}, nil} {
		s.Add(&tables.Info{Size: 7, IndexBytes: 3,
			Filters: &tables.Filters{Policy: "mine", Bytes: 10}}, r)
	}
	require.InDelta(t, (10+30+0)/3.0, s.BitsPerKey, 1e-12)
	require.EqualValues(t, 1409, s.Keys)
	require.EqualValues(t, 35, s.Size)
	require.EqualValues(t, 50, s.FilterBytes)
	require.EqualValues(t, 15, s.IndexBytes)
	require.Equal(t, map[string]int{"mine": 5}, s.Policies)
	require.Equal(t, map[string]int{"ribbon": 6}, s.Encodings)
}
