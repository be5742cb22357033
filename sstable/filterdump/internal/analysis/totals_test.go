package analysis

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

// A table's rates count by its keys; those of tables where nothing was asked do not.
func TestTotalRates(t *testing.T) {
	table := func(keys, asked int64, rate, fpp float64) *Report {
		r := newRate(asked, int64(rate*float64(asked)))
		return &Report{Keys: keys, Between: r, FPP: &fpp, WithKeys: 2, KeysPerFilter: 50,
			BitsPerKey: 100 * rate, Encodings: map[string]int{"ribbon": 2}}
	}
	var s Totals
	for _, r := range []*Report{
		table(100, 1000, 0.1, 0.01), table(300, 200, 0.3, 0.03), table(1000, 0, 0, 0.5), {Keys: 9},
		nil,
	} {
		s.Add(&tables.Info{Size: 7, Filters: &tables.Filters{Policy: "mine", Bytes: 10}}, r)
	}
	require.InDelta(t, (10+90)/400.0, s.Between.Rate, 1e-12)
	require.InDelta(t, (1+9)/400.0, s.FPP, 1e-12)
	require.EqualValues(t, 1200, s.Between.Asked)
	require.EqualValues(t, 160, s.Between.Passed)
	require.InDelta(t, (10+30+0)/3.0, s.BitsPerKey, 1e-12)
	require.EqualValues(t, 1409, s.Keys)
	require.EqualValues(t, 35, s.Size)
	require.EqualValues(t, 50, s.FilterBytes)
	require.Equal(t, map[string]int{"mine": 5}, s.Policies)
	require.Equal(t, map[string]int{"ribbon": 6}, s.Encodings)
	// Each rate varies as that of its keys asked; the bounds are about 1.96 standard errors away.
	variance := (0.25*0.75/1000)/16 + (0.25*0.75/200)*9/16
	require.InEpsilon(t, 1.96*math.Sqrt(variance), (s.Between.High-s.Between.Low)/2, 0.02)
}
