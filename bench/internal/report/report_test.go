package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

type record struct {
	Name  string    `json:"name"`
	Rate  float64   `json:"rate"`
	Times []float64 `json:"times"`
}

func example() *Report {
	t := Table{Title: "A table", Keys: 1, Columns: []string{"name", "a rate, %", "spread", "count"}}
	t.Add("one", Number{1.005, 1}, Figure{2, 1.5, 2.5}, 7)
	t.Add("two", Number{math.NaN(), 1}, Figure{2, 2, 2.01}, nil)
	return &Report{
		Command:     "bench test",
		Environment: Environment{"Zen 99", 2, "linux", "amd64", "go1.99", "abc", "2026-01-02"},
		Tables:      []Table{t},
		Notes:       []string{"A note."},
		Records:     []record{{"one", 0.5, nil}, {"two", 1e-7, []float64{1, 2}}},
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, example().WriteText(&b))
	require.Equal(t, `bench test
Zen 99, GOMAXPROCS 2, linux/amd64, go1.99, commit abc

A table
┌──────┬───────┬──────────────────┬───────┐
│ name │     a │           spread │ count │
│      │ rate, │                  │       │
│      │     % │                  │       │
├──────┼───────┼──────────────────┼───────┤
│ one  │   1.0 │ 2.0 [1.5 to 2.5] │     7 │
│ two  │       │              2.0 │       │
└──────┴───────┴──────────────────┴───────┘

A note.
`, b.String())
}

// No line is too wide, and no cell is lost: wide tables become several, with their keys.
func TestWidth(t *testing.T) {
	r := example()
	wide := Table{Title: strings.Repeat("title ", 30), Keys: 1, Columns: []string{"key"}}
	row := []any{"the key"}
	for range 12 {
		wide.Columns = append(wide.Columns, "a header of words")
		row = append(row, "a cell of "+strings.Repeat("x", 10))
	}
	wide.Add(row...)
	r.Tables = []Table{wide}
	r.Notes = []string{strings.Repeat("many words ", 40)}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	for _, line := range strings.Split(b.String(), "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), Width, line)
	}
	require.Equal(t, 12, strings.Count(b.String(), "a cell of "))
	require.Equal(t, 4, strings.Count(b.String(), "the key"), "with 3 or 4 cells of 20 each")
}

func TestFigures(t *testing.T) {
	require.Equal(t, Figure{4.5, 1, 8}, Extremes([]float64{5, 1, 2, 4, 3, 6, 8, 7}))
	require.Equal(t, Figure{3, 1, 5}, Extremes([]float64{5, 1, 3}))
	require.Equal(t, "", Extremes(nil).Times(100).String())
	require.True(t, math.IsNaN(Median(nil)))
	for x, want := range map[float64]string{0: "0", 0.00123: "0.0012", 0.0996: "0.10", 1.04: "1.0",
		9.96: "10", 312.4: "312", 4548: "4548"} {
		require.Equal(t, want, digits(x))
		require.Equal(t, want+" ["+want+" to 9999]", Figure{x, x, 9999}.String())
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	progress := NewProgress(&b)
	progress(0, 10, "loading")
	progress(9, 10, "reading")
	require.Regexp(t, `^\[ 1/10\] loading\n\[10/10\] reading \(about [0-9]+s left\)\n$`, b.String())
}
