package ratebench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
)

func named(t *testing.T, name string) kind.Kind {
	k, ok := kind.Named(name)
	require.True(t, ok, name)
	return k
}

func config(kinds ...kind.Kind) *Config {
	return &Config{Kinds: kinds, Shapes: keys.Shapes, Densities: keys.Densities, Ns: []int{20},
		Bits: []float64{10}, Queries: 10_000, Seed: 1, Progress: func(int, int, string) {}}
}

func shapes(t *testing.T, names ...string) (all []keys.Shape) {
	for _, name := range names {
		i := slices.IndexFunc(keys.Shapes, func(s keys.Shape) bool { return s.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		all = append(all, keys.Shapes[i])
	}
	return all
}

func density(t *testing.T, name string) keys.Density {
	i := slices.IndexFunc(keys.Densities, func(d keys.Density) bool { return d.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return keys.Densities[i]
}

// Rates and their intervals are what they are known to be. Intervals depend on whether filters
// differ.
func TestEstimates(t *testing.T) {
	c := config(always(0.03).kind("equal"), varying.kind("varying"))
	c.Queries = 20_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, results, 2*len(c.Cells()))
	require.Len(t, c.Cells(), 2+8*4)
	covered, coveredVarying := 0, 0
	for i := 0; i < len(results); i += 2 {
		equal, varies := results[i].Rate, results[i+1].Rate
		require.Equal(t, equal.Queries, varies.Queries)
		require.GreaterOrEqual(t, equal.Filters, 10, "%v", results[i].Cell)
		require.GreaterOrEqual(t, equal.Queries, c.Queries, "%v", results[i].Cell)
		require.Less(t, equal.Queries, c.Queries+10*512, "%v", results[i].Cell)
		if low, high := equal.Interval(z95); low <= 0.03 && 0.03 <= high {
			covered++
			require.Less(t, high-low, 5*math.Sqrt(0.03*0.97/float64(equal.Queries)))
		}
		if low, high := varies.Interval(z95); low <= 0.2 && 0.2 <= high {
			coveredVarying++
		}
	}
	// 95 % of the intervals contain the rate, give or take 4 standard errors: of 34 cells 32.3 and
	// 1.3. The variance of few filters is uncertain.
	require.GreaterOrEqual(t, float64(covered), 32.3-4*1.3)
	require.GreaterOrEqual(t, float64(coveredVarying), 0.90*34-4*1.75)
}

// Neither few nor equal answers give an interval without width.
func TestInterval(t *testing.T) {
	var r Rate
	low, high := r.Interval(z95)
	require.Equal(t, []float64{0, 1}, []float64{low, high}, "nothing is known")
	require.Zero(t, r.Mean())
	for _, c := range []struct {
		queries, positives int
		low, high          float64 // Wilson's, from R's binom::binom.wilson
	}{
		{336, 336, 0.98870, 1},
		{300, 0, 0, 0.01264},
		{1, 1, 0.20654, 1},
		{100, 10, 0.05523, 0.17437},
	} {
		r = Rate{}
		r.add(c.queries, c.positives)
		low, high = r.Interval(1.959964)
		require.InDelta(t, c.low, low, 1e-5)
		require.InDelta(t, c.high, high, 1e-5)
	}
	// Filters that differ: the answers of one filter are worth less.
	differ, equal := Rate{}, Rate{}
	for i := range 100 {
		differ.add(100, 40*(i%2))
		equal.add(100, 20)
	}
	low, high = differ.Interval(1)
	require.InDelta(t, 0.2/math.Sqrt(99), (high-low)/2, 0.001)
	low, high = equal.Interval(1)
	require.InDelta(t, math.Sqrt(0.2*0.8/10_000), (high-low)/2, 0.0001, "never less than the "+
		"binomial's")
}

// The same seed gives the same rates and the same number of queries, whatever is measured beside;
// another seed gives others.
func TestDeterministic(t *testing.T) {
	type rates map[string]Rate // by cell, bits and kind
	run := func(change func(*Config)) rates {
		c := config(kind.All...)
		c.Ns, c.Bits, c.Queries = []int{8, 51, 1500}, []float64{10, 20}, 2000
		c.Shapes = shapes(t, "random", "decimal", "bigendian", "url")
		change(c)
		results, err := c.Run(context.Background())
		require.NoError(t, err)
		all := rates{}
		for _, r := range results {
			all[fmt.Sprint(r.Kind.Name, r.Bits, r.Cell)] = r.Rate
		}
		return all
	}
	first := run(func(*Config) {})
	require.Equal(t, first, run(func(*Config) {}))
	for name, change := range map[string]func(*Config){
		"fewer cells": func(c *Config) {
			c.Shapes, c.Bits, c.Ns = c.Shapes[1:4], []float64{20}, []int{51}
		},
		"one kind":   func(c *Config) { c.Kinds = c.Kinds[:1] },
		"the others": func(c *Config) { c.Kinds = c.Kinds[1:] },
		"a fake too": func(c *Config) {
			c.Kinds = append([]kind.Kind{always(1).kind("fake")}, c.Kinds...)
		},
	} {
		same := 0
		for cell, rate := range run(change) {
			if _, ok := first[cell]; ok {
				require.Equal(t, first[cell], rate, "%s: %s", name, cell)
				same++
			}
		}
		require.Greater(t, same, 10, name)
	}
	same := 0
	for cell, rate := range run(func(c *Config) { c.Seed = 2 }) {
		if rate == first[cell] {
			same++
		}
	}
	require.Less(t, same, len(first)/3, "rates of few false positives may be the same by chance")
}

// In a cell that a textbook knows, exact filters do what it says; and the kinds' sizes are right.
func TestKinds(t *testing.T) {
	c := config(kind.Exact, named(t, "ribbon"))
	c.Shapes, c.Ns, c.Queries = shapes(t, "random"), []int{3000}, 1_000_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	textbook := math.Pow(1-math.Exp(-6.0/10), 6) // k = 6 of 10 bits
	require.InEpsilon(t, textbook, results[0].Rate.Mean(), 0.15)
	require.InEpsilon(t, math.Pow(2, -10), results[1].Rate.Mean(), 0.25)
	for i, k := range c.Kinds {
		p, err := k.New(10)
		require.NoError(t, err)
		size := p.(interface{ FilterSize(int) uint64 }).FilterSize(3000)
		require.Equal(t, size, uint64(results[i].Size))
	}
}

// Builders get the keys of a filter sorted, whatever their shape.
func TestKeysAreSorted(t *testing.T) {
	unsorted := 0
	k := always(0).kind("sorted")
	k.New = func(float64) (policy.Policy, error) { return sortedPolicy{always(0), &unsorted}, nil }
	_, err := config(k).Run(context.Background())
	require.NoError(t, err)
	require.Zero(t, unsorted)
}

type sortedPolicy struct {
	fake
	unsorted *int
}

func (p sortedPolicy) NewBuilder() policy.Builder {
	return &sortedBuilder{p.fake.NewBuilder(), nil, p.unsorted}
}

type sortedBuilder struct {
	policy.Builder
	last     []byte
	unsorted *int
}

func (b *sortedBuilder) Add(key []byte) {
	if bytes.Compare(b.last, key) >= 0 && b.last != nil {
		*b.unsorted++
	}
	b.last = key
	b.Builder.Add(key)
}

func (b *sortedBuilder) Finish(dst []byte) []byte { b.last = nil; return b.Builder.Finish(dst) }

func TestFaults(t *testing.T) {
	c := config(always(0.1).kind("sound"), fake{always(0).rateOf, true}.kind("losing"))
	_, err := c.Run(context.Background())
	require.ErrorIs(t, err, ErrLostKey)
	require.ErrorContains(t, err, "losing: a key is lost: 20 of 20")

	other := named(t, "ribbon")
	other.Encoding = policy.EncodingBloom
	_, err = config(other).Run(context.Background())
	require.ErrorContains(t, err, `its filter is of the encoding "ribbon"`)
}

// What was measured before an interruption is kept.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	c := config(kind.All...)
	c.Ns = []int{20, 100_000}
	c.Progress = func(step, total int, _ string) {
		require.Equal(t, 2*34, total)
		if step == 34 {
			cancel(cause)
		}
	}
	results, err := c.Run(ctx)
	require.ErrorIs(t, err, cause)
	require.GreaterOrEqual(t, len(results), 30*len(c.Kinds))
	r := &report.Report{}
	(&Outcome{c, results}).Report(r)
	require.Len(t, r.Records, len(results))
}

// rate returns a rate of 4 equal filters of a million queries each.
func rate(falsePositives int) (r Rate) {
	for range 4 {
		r.add(1_000_000, falsePositives)
	}
	return r
}

// outcome returns one of exact and of a kind with bounds in a cell, and of random keys beside it.
func outcome(t *testing.T, n int, bits float64, rateInCell Rate) *Outcome {
	beside := Cell{shapes(t, "random")[0], keys.Anywhere, n}
	cell := Cell{shapes(t, "decimal")[0], density(t, "63%"), n}
	exact, bounded := kind.Exact, kind.Kind{Name: "bounded", Bounds: []kind.Bound{
		{Bits: 10, From: 500, Rate: 0.01}, {Bits: 16, From: 500, Rate: 0.0009},
		{Bits: 20, From: 500, Rate: 0.00022},
	}}
	c := config(exact, bounded)
	c.Ns, c.Bits = []int{n}, []float64{bits}
	result := func(of Cell, k kind.Kind, rate Rate, size float64) Result {
		return Result{Cell: of, Kind: k, Bits: bits, Rate: rate, Size: size}
	}
	return &Outcome{c, []Result{
		result(beside, exact, rate(12_000), 128), result(beside, bounded, rate(1), 256),
		result(cell, exact, rate(900_000), 128), result(cell, bounded, rateInCell, 256),
	}}
}

// A rate may be 5 standard errors above its bound, and no more. With 4M queries the errors are
// 49.7, 15.0 and 7.4 a million at the bounds.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name           string
		n              int
		bits           float64
		falsePositives int // a million
		broken         bool
	}{
		{"within", 1000, 10, 9000, false},
		{"5 above", 1000, 10, 10_000 + 5*49, false},
		{"6 above", 1000, 10, 10_000 + 6*50, true},
		{"5 above, 16 bits", 1000, 16, 900 + 5*15, false},
		{"6 above, 16 bits", 1000, 16, 900 + 6*16, true},
		{"5 above, 20 bits", 10_000_000, 20, 220 + 5*7, false},
		{"6 above, 20 bits", 10_000_000, 20, 220 + 6*8, true},
		{"the smallest number of keys", 500, 10, 10_000 + 6*50, true},
		{"fewer keys", 499, 10, 900_000, false},
		{"bits without a promise", 1000, 12, 900_000, false},
	} {
		o := outcome(t, c.n, c.bits, rate(c.falsePositives))
		r := &report.Report{}
		o.Report(r)
		if c.broken {
			require.ErrorIs(t, o.Err(), ErrBound, c.name)
			require.ErrorContains(t, o.Err(), "bounded: ", c.name)
			require.Regexp(t, `bounded: BOUNDS ARE BROKEN by 1 of 2 rates: decimal 63%, `,
				fmt.Sprint(r.Notes), c.name)
		} else {
			require.NoError(t, o.Err(), c.name)
			require.NotContains(t, fmt.Sprint(r.Notes), "BROKEN", c.name)
		}
	}
}

func TestReport(t *testing.T) {
	o := outcome(t, 1024, 10, rate(10_051))
	r := &report.Report{Command: "bench rates", Records: []Record{}}
	o.Report(r)
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b, 100))
	require.Regexp(t, `│ +1024 │ exact +│ +1\.00 │ 45\.60 +│ 90\.00 \[89\.97 to 90\.03\] │ `+
		`decimal 63% +│ +│`, b.String())
	require.Regexp(t, `│ +1024 │ bounded │ +2\.00 │ 0\.5026 │ 1\.01 \[0\.9954 to 1\.01\] +│ `+
		`decimal 63% +│ 1\.00 +│`, b.String())
	require.Contains(t, b.String(), "bounded: no rate of 2 is more than 5 standard errors")
	records := r.Records.([]Record)
	require.Len(t, records, 4)
	low, high := o.Results[3].Rate.Interval(z95)
	require.Equal(t, Record{"bounded", "decimal", "63%", 1024, 10, 256, 4, 4_000_000, 40_204,
		0.010051, low, high, 0.01}, records[3])
	require.NoError(t, r.WriteJSON(&b))
}

// The charts have the names of shapes and kinds, and a chart for each number of keys.
func TestShapeFigure(t *testing.T) {
	c := config(kind.All...)
	c.Ns, c.Shapes = []int{WindowKeys, 1000}, shapes(t, "random", "bigendian")
	c.Densities = []keys.Density{density(t, "63%")}
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	var r report.Report
	(&Outcome{c, results}).Report(&r)
	figure, err := ShapeFigure(r.Records.([]Record))
	require.NoError(t, err)
	require.Len(t, figure.Charts, 2)
	var b bytes.Buffer
	_, err = figure.WriteTo(&b)
	require.NoError(t, err)
	for _, want := range []string{">random</text>", ">bigendian</text>", ">exact</text>",
		">ribbon</text>", ">goleveldb: 36 keys per filter<", ">Pebble: 1k keys per filter<"} {
		require.Contains(t, b.String(), want)
	}
}
