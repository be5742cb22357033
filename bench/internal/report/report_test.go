package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

type record struct {
	Name  string    `json:"name" doc:"a name"`
	Rate  float64   `json:"rate" doc:"a rate"`
	Times []float64 `json:"times" doc:"its times"`
	Parts []part    `json:"parts" doc:"its parts"`
}

type part struct {
	N int64 `json:"n" doc:"a number"`
}

func example() *Report {
	t := Table{Title: "A table", Keys: 1, Columns: []string{"name", "a rate, %", "spread", "count"}}
	t.Add("one", Number{1.005, 1}, Figure{2, 1.5, 2.5}, 7)
	t.Add("two", Number{math.NaN(), 1}, Figure{2, 2, 2.01}, nil)
	r := &Report{
		Command:     "bench test",
		Environment: Environment{"Zen 99", 2, "linux", "amd64", "go1.99", "abc", "2026-01-02"},
		Tables:      []Table{t},
		Notes:       []string{"A note."},
	}
	r.SetRecords([]record{{"one", 0.5, nil, []part{{3}}}, {"two", 1e-7, nil, nil}})
	return r
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

func TestMarkdown(t *testing.T) {
	require.Equal(t, `| name | a rate, % | spread | count |
|:--- | ---:| ---:| ---:|
| one | 1.0 | 2.0 [1.5 to 2.5] | 7 |
| two |  | 2.0 |  |`, example().Tables[0].Markdown())
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

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, example().WriteJSON(&b))
	var read Report
	require.NoError(t, json.Unmarshal(b.Bytes(), &read))
	require.Equal(t, map[string]string{"name": "a name", "rate": "a rate", "times": "its times",
		"parts": "its parts", "parts.n": "a number"}, read.Fields)
	require.JSONEq(t, `[{"name":"one","rate":0.5,"times":null,"parts":[{"n":3}]},`+
		`{"name":"two","rate":1e-7,"times":null,"parts":null}]`, string(read.Records))
	read.Fields, read.Records = example().Fields, example().Records
	require.Equal(t, example(), &read)
}

// A report that ended early says so in every format.
func TestIncomplete(t *testing.T) {
	r := example()
	r.Incomplete = "no space"
	var text, file bytes.Buffer
	require.NoError(t, r.WriteText(&text))
	require.Contains(t, text.String(), "\nINCOMPLETE, because it ended early: no space\n")
	require.NoError(t, r.WriteJSON(&file))
	require.Contains(t, file.String(), `"incomplete": "no space"`)
}

func TestFigures(t *testing.T) {
	require.Equal(t, Figure{4.5, 1, 8}, Extremes([]float64{5, 1, 2, 4, 3, 6, 8, 7}))
	require.Equal(t, Figure{3, 1, 5}, Extremes([]float64{5, 1, 3}))
	require.Equal(t, "", Extremes(nil).Times(100).String())
	require.True(t, math.IsNaN(Median(nil)))
	for x, want := range map[float64]string{0: "0", 0.00123: "0.0012", 0.0996: "0.10", 1.04: "1.0",
		9.96: "10", 312.4: "312", 4548: "4548"} {
		require.Equal(t, want, Digits(x))
		require.Equal(t, want+" ["+want+" to 9999]", Figure{x, x, 9999}.String())
	}
}

// Figures have an interval or none, and nothing is a figure that is not known.
func TestIsNumber(t *testing.T) {
	for text, want := range map[string]bool{"": true, "7": true, "1.25": true, "2.50 ±10%": true,
		"1.0\u00a0% [0.9 to 1.1]": true, "10k": false, "ribbon:7": false, "unknown": false} {
		table := Table{Columns: []string{"a"}, Rows: [][]string{{"1"}, {text}}}
		require.Equal(t, want, table.IsNumber(0), text)
	}
}

func TestThisEnvironment(t *testing.T) {
	e := ThisEnvironment()
	require.NotEmpty(t, e.CPU)
	require.Positive(t, e.Cores)
	require.NotEmpty(t, e.Commit)
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	progress := NewProgress(&b)
	progress(0, 10, "loading")
	time.Sleep(20 * time.Millisecond)
	progress(9, 10, "reading")
	require.Equal(t, "[ 1/10] loading\n[10/10] reading (about 0s left)\n", b.String())
}

// Ends of the interval of a Poisson count are those whose standard deviation reaches the count.
func TestPoisson(t *testing.T) {
	for _, k := range []int64{0, 1, 10, 1000} {
		s := Poisson(k, 10)
		for _, end := range []float64{10 * s.Low, 10 * s.High} {
			distance := float64(k) - end
			require.InDelta(t, 1.96*1.96*end, distance*distance, 1e-6)
		}
	}
	require.Equal(t, "0 [0 to 0.38]", Poisson(0, 10).String())
}
