package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
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
