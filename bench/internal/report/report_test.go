package report

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

type record struct {
	Name  string    `json:"name"`
	Rate  float64   `json:"rate"`
	Times []float64 `json:"times"`
}

func example() *Report {
	t := Table{Title: "A table", Keys: 1, Columns: []string{"name", "a rate, %", "spread", "count"}}
	t.Add("one", Digits(1.005), Figure{2, 1.5, 2.5}, 7)
	t.Add("two", Digits(math.NaN()), Figure{2, 2, 2.01}, "")
	return &Report{
		Conclusion: "One is better.", BarsTitle: "reads",
		Bars:        []Bar{{"a", "one", 2000}, {"a", "number two", 30}, {"b", "one", 1}},
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
	require.Equal(t, `One is better.

               reads
a  one         ████████████████████████████████████████ 2,000
   number two  █ 30
b  one         ▏ 1.0

A table
 name  a rate, %         spread  count
───────────────────────────────────────
 one         1.0  2.0 (1.5–2.5)      7
 two                        2.0

A note.
bench test
Zen 99, GOMAXPROCS 2, linux/amd64, go1.99, commit abc
`, b.String())
	require.Equal(t, "| name | a rate, % | spread | count |\n| --- | ---:| ---:| ---:|\n"+
		"| one | 1.0 | 2.0 (1.5–2.5) | 7 |\n| two |  | 2.0 |  |", example().Tables[0].Markdown())
}

func TestFigures(t *testing.T) {
	require.Equal(t, Figure{4.5, 1, 8}, Extremes([]float64{5, 1, 2, 4, 3, 6, 8, 7}))
	require.Equal(t, Figure{3, 1, 5}, Extremes([]float64{5, 1, 3}))
	require.Equal(t, "", Extremes(nil).String())
	require.True(t, math.IsNaN(Median(nil)))
	for x, want := range map[float64]string{0: "0", 0.00123: "0.0012", 0.0996: "0.10", 1.04: "1.0",
		9.96: "10", 312.4: "312", 4548: "4,548", 1234567: "1,234,567"} {
		require.Equal(t, want, Digits(x))
		require.Equal(t, want+" ("+want+"–9,999,999)", Figure{x, x, 9999999}.String())
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	progress := NewProgress(&b)
	progress(0, 10, "loading")
	progress(9, 10, "reading")
	require.Regexp(t, `^\[ 1/10\] loading\n\[10/10\] reading \(about [0-9]+s left\)\n$`, b.String())
}
