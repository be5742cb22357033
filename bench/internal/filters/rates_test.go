package filters

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

var decimals = keys.Sources([]string{"decimal"}, []string{"even", "63%", "10%", "beyond"})

// Filters get sorted keys, and the rate is that of all absent keys.
func TestRates(t *testing.T) {
	const queries = 20_000
	filters := 0.0
	third := changed(t, "third", func(p *Policy) {
		add := p.Add
		p.Add = func(all [][]byte) {
			require.True(t, slices.IsSortedFunc(all, bytes.Compare), "as an engine adds keys")
			filters++
			add(all)
		}
		count := p.Count
		p.Count = func(filter []byte, all [][]byte) int {
			if len(all) == 30 { // the present ones
				return count(filter, all)
			}
			return len(all) / 3
		}
	})
	rates, err := MeasureRates(context.Background(), []Kind{third}, decimals[3:], []int{30},
		queries, silent)
	require.NoError(t, err)
	require.Len(t, rates, 1)
	r := rates[0]
	require.InDelta(t, 1./3, r.FPR(), 0.05)
	require.InDelta(t, queries, r.Queries, 512)
	require.GreaterOrEqual(t, filters, 10.0)
	require.InDelta(t, filters, r.Filters, 0)
	require.Equal(t, 39.0, r.FilterBytes, "300 bits, and k")
	require.Contains(t, RateTables(rates)[0].Markdown(), "| 30 | third | 10.40 | 3")
}

// The rates of a cell are always the same, whatever is measured beside.
func TestDeterministic(t *testing.T) {
	kinds := []Kind{kind(t, "bloom"), kind(t, "ribbon")}
	measured := func(kinds []Kind, sources []keys.Source, ns ...int) []Rate {
		rates, err := MeasureRates(context.Background(), kinds, sources, ns, 2000, silent)
		require.NoError(t, err)
		return rates
	}
	all := measured(kinds, decimals, 8, 51, 1500)
	require.Len(t, all, 2*4*3)
	require.Subset(t, all, measured(kinds[1:], decimals, 1500, 8))
	require.Subset(t, all, measured(kinds, decimals[2:], 51))
}
