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
	require.Len(t, shown.Pictures, 1)
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
}

// Without a change there is one bar in a row, and without figures there is no picture.
func TestCountedThatStays(t *testing.T) {
	f := figures()
	f.Levels = f.Levels[:1]
	f.Levels[0].Read = 1
	shown := Counted("/data", verdict.Of(f))
	require.Empty(t, shown.Code)
	require.Contains(t, shown.Pictures[0].Title, "by level (counted)")
	require.Equal(t, []Row{{"L5, 3 tables", []Bar{{1, "1.0 now"}}}}, shown.Pictures[0].Rows)

	f.Lookups = 0
	require.Empty(t, Counted("/data", verdict.Of(f)).Pictures)
	f.Why = "no reason"
	shown = Counted("/data", verdict.Of(f))
	require.Equal(t, "No verdict: no reason.", shown.Sentence)
	require.Empty(t, shown.Pictures)
}
