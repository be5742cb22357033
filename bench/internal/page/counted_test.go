package page

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/sstable/filterdump/verdict"
)

// figures are those of a database of 1 GB with two levels.
func figures() verdict.Figures {
	return verdict.Figures{Engine: "pebblev2", Cache: 8 << 20, Keys: 1e6, Bytes: 1e9, IndexBytes: 3e6,
		Sampled: 1000, Lookups: 1000, Levels: []verdict.Level{
			{Number: 5, Tables: 3, FilterBytes: 1e5, RibbonBytes: 1.2e5, Read: 20, Bare: 700, Ribbon: 1},
			{Number: 6, Tables: 90, Unfiltered: 90, RibbonBytes: 1.2e6, Read: 930, Bare: 930, Ribbon: 2},
		}}
}

// The bars add up to the figures of the sentence.
func TestCounted(t *testing.T) {
	v := verdict.Of(figures())
	shown := Counted("/data", v)
	require.Equal(t, []any{"/data", v.Sentence, v.Facts, v.Code},
		[]any{shown.About, shown.Sentence, shown.Facts, shown.Code})
	require.Len(t, shown.Pictures, 2)
	reads := shown.Pictures[0]
	require.Contains(t, reads.Title, "by level (counted; with the change: computed)")
	require.Equal(t, []Bar{{20, "20 now"}, {1, "1.0 with the change"}}, reads.Rows[0].Bars)
	require.Equal(t, "L5, 3 tables", reads.Rows[0].Label)
	require.Equal(t, "L6, 90 tables without filters", reads.Rows[1].Label)
	var now, then float64
	for _, row := range reads.Rows {
		now, then = now+row.Bars[0].Value, then+row.Bars[1].Value
	}
	require.Contains(t, v.Sentence, fmt.Sprintf(": %s reads per 1,000 (computed), not %s (counted).",
		report.Digits(then), report.Digits(now)))
	require.Equal(t, []Row{
		{"filters", []Bar{{1e5, "0.10 MB now"}, {1.32e6, "1.3 MB with the change (computed)"}}},
		{"indexes", []Bar{{3e6, "3.0 MB"}}},
		{"block cache", []Bar{{8 << 20, "8.4 MB"}}},
	}, shown.Pictures[1].Rows)
}

// The reads in tables without filters end where the change gives all tables of a level filters.
func TestCountedUnfiltered(t *testing.T) {
	v := verdict.Of(figures())
	v.Levels[0].Unfiltered, v.Levels[0].ReadUnfiltered = 1, 15
	of := func(then string) []Bar {
		bars := Counted("/data", v).Pictures[0].Rows[1].Bars
		require.Equal(t, Bar{15, "15 of these now"}, bars[0])
		require.Equal(t, then+" of these with the change", bars[1].Text)
		return bars
	}
	require.Zero(t, of("0")[1].Value)
	v.Levels[0].ThenBytes = float64(v.Levels[0].FilterBytes)
	require.Equal(t, 15.0, of("15")[1].Value)
}

// Without a change there is one bar in a row, and without figures there is no picture.
func TestCountedThatStays(t *testing.T) {
	f := figures()
	f.Levels = f.Levels[:1]
	f.Levels[0].Read, f.Levels[0].Unfiltered, f.Cache = 1, 1, 0
	f.Levels[0].ReadUnfiltered = 0.9
	shown := Counted("/data", verdict.Of(f))
	require.Empty(t, shown.Code)
	require.Contains(t, shown.Pictures[0].Title, "by level (counted)")
	require.Equal(t, []Row{{"L5, 3 tables", []Bar{{1, "1.0 now"}}},
		{"of them 1 without filters", []Bar{{0.9, "0.90 of these now"}}}}, shown.Pictures[0].Rows)
	require.Len(t, shown.Pictures[1].Rows[0].Bars, 1)
	require.Len(t, shown.Pictures[1].Rows, 2)

	f.Lookups = 0
	require.Empty(t, Counted("/data", verdict.Of(f)).Pictures)
	f.Why = "no reason"
	shown = Counted("/data", verdict.Of(f))
	require.Equal(t, "No verdict: no reason.", shown.Sentence)
	require.Empty(t, shown.Pictures)
}
