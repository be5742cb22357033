package ratebench

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/report"
)

// rate returns a rate of equal filters of a million queries each.
func rate(filters, falsePositives int) (r Rate) {
	for range filters {
		r.add(1_000_000, falsePositives)
	}
	return r
}

// outcome returns a report of one cell, and of random keys beside it, in filters of 128 bytes.
func outcome(t *testing.T, n int, bits float64, exactRandom, other Rate) *Report {
	harmless := rate(4, 1)
	beside := Cell{shapeNamed(t, "random"), anywhere, n, bits}
	cell := Cell{shapeNamed(t, "decimal"), densityNamed(t, "63%"), n, bits}
	return &Report{
		Settings:  []report.Setting{{Name: "seed", Value: "5"}},
		Encodings: Encodings, Shapes: Shapes, Densities: Densities,
		Results: []Result{
			{beside, []Rate{exactRandom, harmless}, []int{128, 256}},
			{cell, []Rate{rate(4, 900_000), other}, []int{128, 256}},
		},
	}
}

// A rate may be 3 standard errors above its bound, and no more. With 4M queries the errors are 49.7, 15.0 and 7.4 a million at
// the bounds, and that of two rates of 2 % together 99.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name           string
		n              int
		bits           float64
		exact          int // false positives of random keys
		falsePositives int // a million
		broken         bool
	}{
		{"within", 1000, 10, 1, 9000, false},
		{"3 above", 1000, 10, 1, 10_000 + 3*49, false},
		{"4 above", 1000, 10, 1, 10_000 + 4*50, true},
		{"3 above, 16 bits", 1000, 16, 1, 900 + 3*15, false},
		{"4 above, 16 bits", 1000, 16, 1, 900 + 4*16, true},
		{"3 above, 20 bits", 10_000_000, 20, 1, 220 + 3*7, false},
		{"4 above, 20 bits", 10_000_000, 20, 1, 220 + 4*8, true},
		{"the smallest number of keys", 500, 10, 900_000, 10_000 + 4*50, true},
		{"too many keys for a promise", 20_000_000, 10, 1, 900_000, false},
		{"bits without a promise", 1000, 12, 1, 900_000, false},
		{"few keys: above the bound, better than exact", 499, 10, 20_000, 19_000, false},
		{"few keys: 2.9 above exact", 499, 10, 20_000, 20_000 + 287, false},
		{"few keys: 3.2 above exact", 499, 10, 20_000, 20_000 + 317, true},
		{"few keys, below the bound, worse than exact", 8, 10, 5000, 9000, true},
		{"few keys, bits without a promise", 8, 12, 5000, 9000, true},
		{"500 keys: both", 500, 10, 5000, 9000, true},
		{"501 keys: not exact's", 501, 10, 5000, 9000, false},
		{"7 keys: none", 7, 10, 5000, 900_000, false},
	} {
		r := outcome(t, c.n, c.bits, rate(4, c.exact), rate(4, c.falsePositives))
		var b bytes.Buffer
		require.NoError(t, r.WriteText(&b))
		if c.broken {
			require.ErrorIs(t, r.Err(), ErrBound, c.name)
			require.Regexp(t, `blocked: BOUNDS ARE BROKEN by [12] of \d rates?:\n  decimal 63%, `, b.String(), c.name)
		} else {
			require.NoError(t, r.Err(), c.name)
			require.NotContains(t, b.String(), "BROKEN", c.name)
		}
	}
}

// Where the encodings to compare with were not measured nothing is said, and that is said.
func TestNoBound(t *testing.T) {
	r := outcome(t, 20, 10, rate(4, 1), rate(4, 900_000))
	require.Error(t, r.Err())
	r.Results = r.Results[1:]
	require.NoError(t, r.Err())
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	require.Contains(t, b.String(), "blocked: no bound is known for 1 cell.\n")
	require.NotContains(t, b.String(), "within the bounds")

	r = outcome(t, 20, 10, rate(4, 1), rate(4, 900_000))
	r.Encodings = r.Encodings[1:]
	for i := range r.Results {
		r.Results[i].Rates, r.Results[i].Sizes = r.Results[i].Rates[1:], r.Results[i].Sizes[1:]
	}
	require.NoError(t, r.Err())
}

func TestText(t *testing.T) {
	r := outcome(t, 1024, 10, rate(4, 12_000), rate(4, 10_051))
	r.LeftOut = 2
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b))
	for _, line := range []string{
		"-seed=5",
		"│ 10 bits, keys │ exact, bits │            mean │  median │ worst cell                  │  bound │ blocked, bits │           mean │ median │ worst cell                 │\n",
		// The mean of 1.2 and 90, and its error, half of the root of 0.0054² + 0.0150²; the mean of 0.0001 and 1.0051.
		"│          1024 │        1.00 │ 45.6000 ±0.0080 │ 45.6000 │ 90.0000 ±0.0150 decimal 63% │ 1.0000 │          2.00 │ 0.5026 ±0.0025 │ 0.5026 │ 1.0051 ±0.0050 decimal 63% │\n",
		"  decimal      %016d\n",
		"  alternating  exactly every second index",
		"2 cells are left out",
		"blocked: all 2 rates are within the bounds.\n",
		"blocked: 1 rate is above the bound by at most 3 standard errors, as chance may do; the furthest:\n" +
			"  decimal 63%, 1024 keys, 10 bits per key: 1.0051 ±0.0050, bound 1.0000, 1.0 standard errors\n",
		"blocked: the largest standard error is 0.5 % of the bound: decimal 63%, 1024 keys, 10 bits per key.\n",
	} {
		require.Contains(t, b.String(), line)
	}
	r = outcome(t, 1024, 10, rate(4, 12_000), rate(4, 9000))
	b.Reset()
	require.NoError(t, r.WriteText(&b))
	require.NotContains(t, b.String(), "above the bound")
}

// At 500 keys the lower bound shows, and where the bound has an error, so does that.
func TestTextOfFewKeys(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, outcome(t, 500, 10, rate(4, 5000), rate(4, 9000)).WriteText(&b))
	require.Contains(t, b.String(), "│ 0.5000 │          4.10 │")
	require.Contains(t, b.String(), "blocked: BOUNDS ARE BROKEN by 1 of 4 rates:\n  decimal 63%, 500 keys, 10 bits per key: 0.9000 ±0.0047, bound 0.5000 ±0.0035, 67.9 standard errors\n")
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, outcome(t, 1024, 10, rate(4, 12_000), rate(4, 10_051)).WriteCSV(&b))
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+4)
	require.Equal(t, []string{"encoding", "shape", "density", "n", "bits", "filters", "queries", "false_positives", "fpr", "std_error", "filter_bytes", "bound", "setting_seed"}, rows[0])
	require.Equal(t, []string{"exact", "random", "any", "1024", "10", "4", "4000000", "48000", "0.012"}, rows[1][:9])
	require.Equal(t, []string{"blocked", "decimal", "63%", "1024", "10", "4", "4000000", "40204", "0.010051"}, rows[4][:9])
	stdError, err := strconv.ParseFloat(rows[4][9], 64)
	require.NoError(t, err)
	require.InDelta(t, math.Sqrt(0.010051*0.989949/4e6), stdError, 1e-9)
	require.Equal(t, []string{"256", "0.01", "5"}, rows[4][10:])
	require.Empty(t, rows[3][11])
}

// The rate of random keys is that of the same number of keys and bits per key.
func TestComparedWithTheSameCell(t *testing.T) {
	r := outcome(t, 20, 10, rate(4, 5000), rate(4, 9000))
	for _, other := range []struct {
		n    int
		bits float64
	}{{30, 10}, {20, 12}} {
		worse := outcome(t, other.n, other.bits, rate(4, 900_000), rate(4, 1))
		r.Results = append(worse.Results, r.Results...)
	}
	require.ErrorIs(t, r.Err(), ErrBound)
	r = outcome(t, 20, 10, rate(4, 5000), rate(4, 9000))
	r.Results[0].Shape = shapeNamed(t, "uuid")
	require.NoError(t, r.Err(), "other keys are not random keys")
}
