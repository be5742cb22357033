package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

type record struct {
	Name  string  `json:"name" doc:"a name"`
	Rate  float64 `json:"rate" doc:"a rate"`
	Parts []part  `json:"parts" doc:"its parts"`
}

type part struct {
	N int64 `json:"n" doc:"a number"`
}

func example() *Report {
	t := Table{Title: "A table", Keys: 1, Columns: []string{"name", "a rate, %", "spread", "count"}}
	t.Add("one", Number{1.005, 1}, Spread{2, 1.5, 2.5, 1}, 7)
	t.Add("two", Number{math.NaN(), 1}, Spread{2, 2, 2.01, 1}, nil)
	return &Report{
		Command:     "bench test",
		Environment: Environment{"Zen 99", 2, 3, "linux", "amd64", "go1.99", "abc"},
		Versions:    []Setting{{"C++ LevelDB", "1.23"}},
		Settings:    []Setting{{"num", 5}, {"quick", true}, {"full", false}, {"n", ""}},
		Records:     []record{{"one", 0.5, []part{{3}}}, {"two", 1e-7, nil}},
		Tables:      []Table{t},
		Notes:       []string{"A note."},
		Conclusion:  []string{"Use it."},
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, example().WriteText(&b, 100))
	require.Equal(t, `bench test, Zen 99, 2 cores, GOMAXPROCS 3, linux/amd64, go1.99, commit abc
C++ LevelDB 1.23, --num 5, --quick

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

Conclusion
Use it.
`, b.String())
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, example().WriteMarkdown(&b))
	require.Contains(t, b.String(), "| name | a rate, % | spread | count |\n")
	require.Contains(t, b.String(), "| one | 1.0 | 2.0 [1.5 to 2.5] | 7 |\n")
	require.Contains(t, b.String(), "\n- A note.\n")
}

func TestOneCore(t *testing.T) {
	e := Environment{CPU: "Zen 99", Cores: 1, GoMaxProcs: 1}
	require.Contains(t, e.String(), "Zen 99, 1 core, GOMAXPROCS 1")
}

// No line is wider than asked for, and no cell is lost: wide tables become several, with their
// keys.
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
	for _, width := range []int{60, 80, 100, 400} {
		var b bytes.Buffer
		require.NoError(t, r.WriteText(&b, width))
		for _, line := range strings.Split(b.String(), "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), width, line)
		}
		require.Equal(t, 12, strings.Count(b.String(), "a cell of "))
		require.Equal(t, len(wide.split(width)), strings.Count(b.String(), "the key"))
	}
}

func TestFiles(t *testing.T) {
	r := example()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	var decoded map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &decoded))
	require.Equal(t, true, decoded["complete"])
	require.Equal(t, "go1.99", decoded["environment"].(map[string]any)["go_version"])
	require.Equal(t, map[string]any{"num": 5.0, "quick": true, "full": false, "n": ""},
		decoded["settings"])
	require.Equal(t, map[string]any{
		"name": "a name", "rate": "a rate", "parts": "its parts", "parts.n": "a number",
	}, decoded["fields"])
	tables := decoded["tables"].([]any)
	require.Equal(t, []any{"one", "1.0", "2.0 [1.5 to 2.5]", "7"},
		tables[0].(map[string]any)["rows"].([]any)[0])
	require.Equal(t, []any{"A note."}, decoded["notes"])
	records := decoded["records"].([]any)
	require.Equal(t,
		map[string]any{"name": "one", "rate": 0.5, "parts": []any{map[string]any{"n": 3.0}}},
		records[0])
}

// A report that ended early says so in every format.
func TestIncomplete(t *testing.T) {
	r := example()
	r.Incomplete = errors.Join(errors.New("no space"), errors.New("second"))
	for _, write := range []func(*bytes.Buffer) error{
		func(b *bytes.Buffer) error { return r.WriteText(b, 100) },
		func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
		func(b *bytes.Buffer) error { return r.WriteJSON(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		require.Contains(t, b.String(), "INCOMPLETE, because it ended early: no space; second")
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	require.Contains(t, b.String(), `"complete": false`)
}

func TestSpreads(t *testing.T) {
	values := []float64{5, 1, 2, 4, 3, 6, 8, 7}
	require.Equal(t, Spread{4.5, 1, 8, 1}, Extremes(values, 1))
	require.Equal(t, Spread{3, 1, 5, 1}, Extremes([]float64{5, 1, 3}, 1))
	require.Equal(t, "", Extremes(nil, 1).String())
	require.True(t, math.IsNaN(Median(nil)))
}

func TestThisEnvironment(t *testing.T) {
	e := ThisEnvironment()
	require.NotEmpty(t, e.CPU)
	require.Equal(t, "Zen 99 (family 25, model 1)", processor("processor\t: 0\ncpu family\t: 25\n"+
		"model\t\t: 1\nmodel name\t: Zen 99\n\nprocessor\t: 1\nmodel name\t: Zen 98\n"))
	require.Equal(t, "unknown CPU", processor(""))
	require.Positive(t, e.Cores)
	require.NotEmpty(t, e.Commit)
	require.Equal(t, "unknown version", ModuleVersion("example.com/none"))
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	progress := NewProgress(&b)
	progress(0, 10, "loading")
	time.Sleep(20 * time.Millisecond)
	progress(9, 10, "reading")
	require.Equal(t, "[ 1/10] loading\n[10/10] reading (about 0s left)\n", b.String())
}
