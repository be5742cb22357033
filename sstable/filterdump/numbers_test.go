package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/tables"
)

func TestNumbers(t *testing.T) {
	require.Equal(t, "0 tables", analysis.Count(0, "table"))
	require.Equal(t, "1 entry", analysis.Count(1, "entry", "entries"))
	require.Equal(t, "1,234,567 entries", analysis.Count(int64(1234567), "entry", "entries"))
	require.Equal(t, "0.00", analysis.Percent(0))
	require.Equal(t, "0.0034", analysis.Percent(0.0000341))
	require.Equal(t, "0.10", analysis.Percent(0.001))
	require.Equal(t, "12.35", analysis.Percent(0.12345))
	require.Equal(t, "1.00 % [0.50 to 2.00]",
		analysis.Rate{Rate: 0.01, Low: 0.005, High: 0.02}.String())
}

// Filters without probes have bits and an FPP all the same; those that cannot be parsed have none.
func TestWithoutProbes(t *testing.T) {
	fpp := 0.0039
	r := &Result{Status: Sound, Info: tables.Info{Filters: &tables.Filters{Policy: "mine"}}}
	r.Report = &analysis.Report{BitsPerKey: 8.8, FPP: &fpp}
	text := func() string {
		b := &textWriter{}
		b.describe(r)
		return b.String()
	}
	require.Contains(t, text(), "  bits         8.80 per key\n")
	require.Contains(t, text(), "  FPP          0.39 % for random keys, estimated from the filters alone\n")
	require.Equal(t, "0.39", r.row()[4])
	r.FPP = nil
	require.NotContains(t, text(), "FPP")
	require.Empty(t, r.row()[4])
}
