package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

func TestNumbers(t *testing.T) {
	require.Equal(t, "0 tables", count(0, "table"))
	require.Equal(t, "1 entry", count(1, "entry", "entries"))
	require.Equal(t, "1,234,567 entries", count(int64(1234567), "entry", "entries"))
	require.Equal(t, "0.00", percent(0))
	require.Equal(t, "0.0034", percent(0.0000341))
	require.Equal(t, "0.10", percent(0.001))
	require.Equal(t, "12.35", percent(0.12345))
	require.Equal(t, "6, 13", joinInts([]int{6, 13}))
	require.Equal(t, "keys: none asked about; why", rateText(analysis.Rate{}, "why", "keys"))
	require.Equal(t, "1.00 % [0.50 to 2.00] of 1,000 keys", rateText(analysis.Rate{Asked: 1000, Passed: 10, Rate: 0.01, Low: 0.005, High: 0.02}, "", "keys"))
	require.Empty(t, rateColumn(analysis.Rate{}))
}
