package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	table := Table{Title: "A table", Keys: 2,
		Columns: []string{"of", "name", "a rate of\nsomething, %", "number", "count"}}
	table.Rows = [][]string{{"a", "one", Digits(1.005), Digits(2000), "7"}}
	table.Set("number", Digits(0.5), "a", "number two")
	table.Set("number", Digits(0.5), "a", "one")
	table.Set("more", "yes", "b", "one")
	table.Set("number", Digits(2000), "a", "one")
	r := &Report{
		Conclusion: "One is better.", BarsTitle: "Reads:",
		Bars:        []float64{2000, 34, 1},
		Command:     "bench test",
		Environment: Environment{"Zen 99", 2, "linux", "amd64", "go1.99", "v9", "2026-01-02"},
		Table:       table,
		Notes:       []string{"A note.", "  some code"},
	}
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.Equal(t, `One is better.

Reads:
a  one         ██████████████████████████████ 2,000
a  number two  █ 34
b  one         ▏ 1.0

A table
                    a rate of
 of  name        something, %  number  count  more
───────────────────────────────────────────────────
 a   one                  1.0   2,000      7
 a   number two                  0.50
 b   one                                       yes

A note.
  some code
bench test
Zen 99, GOMAXPROCS 2, linux/amd64, go1.99, v9
`, b.String())
}

func TestFigures(t *testing.T) {
	require.Equal(t, 4.5, Median([]float64{5, 1, 2, 4, 3, 6, 8, 7}))
	for x, want := range map[float64]string{0: "0", 0.00123: "0.0012", 0.0996: "0.10", 1.04: "1.0",
		9.96: "10", 312.4: "312", 4548: "4,548", 1234567: "1,234,567"} {
		require.Equal(t, want, Digits(x))
	}
	for x, want := range map[float64]string{1.04: "1.0", 42.4: "42", 478: "480", 1137: "1,100"} {
		require.Equal(t, want, Rounded(x, 2))
	}
}
