package ratebench

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/kind"
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
	harmless, kinds := rate(4, 1), []kind.Kind{{Encoding: kind.Exact}, {Encoding: kind.Blocked}}
	beside := Cell{shapeNamed(t, "random"), anywhere, n, bits}
	cell := Cell{shapeNamed(t, "decimal"), densityNamed(t, "63%"), n, bits}
	return &Report{
		Settings:  []report.Setting{{Name: "seed", Value: "5"}},
		Encodings: Encodings[:2], Shapes: Shapes, Densities: Densities,
		Results: []Result{
			{beside, []Rate{exactRandom, harmless}, []int{128, 256}, kinds},
			{cell, []Rate{rate(4, 900_000), other}, []int{128, 256}, kinds},
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

// fused returns a report of two cells in which binary fuse was written, with fingerprints of 8 bits and others.
func fused(t *testing.T, queries, first, second int) *Report {
	r := &Report{Encodings: Encodings[2:], Shapes: Shapes, Densities: Densities}
	for i, falsePositives := range []int{first, second} {
		var rate Rate
		rate.add(queries, falsePositives)
		cell := Cell{shapeNamed(t, []string{"random", "uuid"}[i]), anywhere, 100_000, 20}
		r.Results = append(r.Results, Result{cell, []Rate{rate}, []int{118_800}, []kind.Kind{{Encoding: kind.Fuse, Width: 8}}})
	}
	return r
}

// Of binary fuse filters with fingerprints of 8 bits one key in 256 is to pass: of 2,560,000 there are 10,000, and the standard
// error is 99.8 of them. Those of both cells together are to be 20,000, with an error of 141.
func TestFuseVerdicts(t *testing.T) {
	for _, c := range []struct {
		name                   string
		queries, first, second int
		broken                 []string
	}{
		{"as they are to be", 2_560_000, 10_000, 10_000, nil},
		{"4.9 above and below", 2_560_000, 10_000 + 489, 10_000 - 489, nil},
		{"5.1 above", 2_560_000, 10_000 + 509, 10_000, []string{"random"}},
		{"5.1 below", 2_560_000, 10_000, 10_000 - 509, []string{"uuid"}},
		{"both 3 above, together 4.3", 2_560_000, 10_000 + 300, 10_000 + 300, nil},
		{"both 4 above, together 5.7", 2_560_000, 10_000 + 400, 10_000 + 400, []string{"all cells"}},
		{"both 4 below, together 5.7", 2_560_000, 10_000 - 400, 10_000 - 400, []string{"all cells"}},
		{"few expected: 1, and 6 came", 256, 1, 6, nil},
		{"few expected: 1, and 9 came", 256, 1, 9, []string{"uuid"}},
		{"few expected: 1, and none came", 256, 0, 0, nil},
	} {
		r := fused(t, c.queries, c.first, c.second)
		var b bytes.Buffer
		require.NoError(t, r.WriteText(&b))
		if c.broken == nil {
			require.NoError(t, r.Err(), c.name)
			require.Contains(t, b.String(), "fuse: all 3 rates are within the bounds.\n", c.name)
			continue
		}
		require.ErrorIs(t, r.Err(), ErrBound, c.name)
		require.Regexp(t, fmt.Sprintf(`fuse: BOUNDS ARE BROKEN by %d of 3 rates:\n  %s, 100k keys`, len(c.broken), strings.Join(c.broken, ".*\n  ")), b.String(), c.name)
	}
}

func TestTextOfFuse(t *testing.T) {
	var b bytes.Buffer
	r := fused(t, 2_560_000, 10_000, 10_489)
	require.NoError(t, r.WriteText(&b))
	for _, line := range []string{
		"│ 20 bits, keys │  bound │     fuse, bits │           mean │ median │ worst cell          │\n",
		"│          100k │ 0.3906 │ 9.50 as fuse 8 │ 0.4002 ±0.0028 │",
		"fuse: 3 rates are 0.3906 give or take at most 5 standard errors, as chance may do; the furthest:\n" +
			"  uuid, 100k keys, 20 bits per key: 0.4097 ±0.0039, bound 0.3906, 4.9 standard errors\n" +
			"  all cells, 100k keys, 20 bits per key: 0.4002 ±0.0028, bound 0.3906, 3.5 standard errors\n" +
			"  random, 100k keys, 20 bits per key: 0.3906 ±0.0039, bound 0.3906, 0.0 standard errors\n",
		"fuse: the standard error is from 0.7 % of 0.3906 (all cells, 100k keys, 20 bits per key) to 1.0 % (uuid, 100k keys, 20 bits per key).\n",
	} {
		require.Contains(t, b.String(), line)
	}

	// The bounds of blocked Bloom are for blocked Bloom, whoever wrote it; a row may have both.
	r = fused(t, 2_560_000, 10_000, 560)
	r.Results[1].Kinds[0] = kind.Kind{Encoding: kind.Blocked}
	require.NoError(t, r.Err())
	b.Reset()
	require.NoError(t, r.WriteText(&b))
	require.Contains(t, b.String(), "as fuse 8, blocked")
	require.Contains(t, b.String(), "fuse: all 2 rates are within the bounds.\n")
	r.Results[1].Rates[0] = Rate{}
	r.Results[1].Rates[0].add(2_560_000, 700) // 563 are the bound, and the standard error is 26
	require.ErrorIs(t, r.Err(), ErrBound)
	b.Reset()
	require.NoError(t, r.WriteCSV(&b))
	require.Contains(t, b.String(), ",118800,fuse 8,0.00390625\n")
	require.Contains(t, b.String(), ",118800,blocked,0.00022\n")
}

// Rates below a hundredth of a per cent have more decimals.
func TestPercent(t *testing.T) {
	require.Equal(t, "0.3906", percent(1.0/256))
	require.Equal(t, "0.0244", percent(1.0/4096))
	require.Equal(t, "0.001526", percent(1.0/65536))
	require.Equal(t, "0.001526 ±0.000120", plusMinus(1.0/65536, 1.2e-6))
	require.Equal(t, "0.0000", percent(0))
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
		result := &r.Results[i]
		result.Rates, result.Sizes, result.Kinds = result.Rates[1:], result.Sizes[1:], result.Kinds[1:]
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
	require.Equal(t, []string{"encoding", "shape", "density", "n", "bits", "filters", "queries", "false_positives", "fpr", "std_error", "filter_bytes", "written", "bound", "setting_seed"}, rows[0])
	require.Equal(t, []string{"exact", "random", "any", "1024", "10", "4", "4000000", "48000", "0.012"}, rows[1][:9])
	require.Equal(t, []string{"blocked", "decimal", "63%", "1024", "10", "4", "4000000", "40204", "0.010051"}, rows[4][:9])
	stdError, err := strconv.ParseFloat(rows[4][9], 64)
	require.NoError(t, err)
	require.InDelta(t, math.Sqrt(0.010051*0.989949/4e6), stdError, 1e-9)
	require.Equal(t, []string{"256", "blocked", "0.01", "5"}, rows[4][10:])
	require.Empty(t, rows[3][12])
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
