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
	k, err := kind.FromString(name)
	require.NoError(t, err)
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
		equal, varies := results[i], results[i+1]
		require.Equal(t, equal.Queries, varies.Queries)
		require.GreaterOrEqual(t, equal.Filters, 10, "%v", equal)
		require.GreaterOrEqual(t, equal.Queries, c.Queries, "%v", equal)
		require.Less(t, equal.Queries, c.Queries+10*512, "%v", equal)
		if equal.Low <= 0.03 && 0.03 <= equal.High {
			covered++
			require.Less(t, equal.High-equal.Low, 5*math.Sqrt(0.03*0.97/float64(equal.Queries)))
		}
		if varies.Low <= 0.2 && 0.2 <= varies.High {
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
	type rates map[string]Record // by cell, bits and kind
	run := func(change func(*Config)) rates {
		c := config(kind.All...)
		c.Ns, c.Bits, c.Queries = []int{8, 51, 1500}, []float64{10, 20}, 2000
		c.Shapes = shapes(t, "random", "decimal", "bigendian", "url")
		change(c)
		results, err := c.Run(context.Background())
		require.NoError(t, err)
		all := rates{}
		for _, r := range results {
			all[fmt.Sprint(r.Kind, r.Bits, r.keys(), r.N)] = r
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
		if rate.FalsePositives == first[cell].FalsePositives {
			same++
		}
	}
	require.Less(t, same, len(first)/3, "rates of few false positives may be the same by chance")
}

// In a cell that a textbook knows, exact filters do what it says; and the kinds' sizes are right.
func TestKinds(t *testing.T) {
	c := config(named(t, "bloom"), named(t, "ribbon"), named(t, "goleveldb"))
	c.Shapes, c.Ns, c.Queries = shapes(t, "random"), []int{3000}, 1_000_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	textbook := math.Pow(1-math.Exp(-6.0/10), 6) // k = 6 of 10 bits
	require.InEpsilon(t, textbook, results[0].FPR, 0.15)
	require.InEpsilon(t, math.Pow(2, -10), results[1].FPR, 0.25)
	require.Equal(t, results[0].FalsePositives, results[2].FalsePositives, "the same bytes")
	for i, k := range c.Kinds[:2] {
		p, err := k.New(10)
		require.NoError(t, err)
		size := p.(interface{ FilterSize(int) uint64 }).FilterSize(3000)
		require.Equal(t, size, uint64(results[i].FilterBytes))
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

// outcome returns one of bloom and of a kind with a bound of 1 % in a cell, and of random keys
// beside it. In the cell the latter has that many false positives in a million.
func outcome(t *testing.T, n int, bits float64, falsePositives int) *Outcome {
	bounded := always(0).kind("bounded")
	bounded.Bounds = []kind.Bound{{Bits: 10, From: 500, Rate: 0.01}}
	c := config(kind.All[0], bounded)
	c.Ns, c.Bits = []int{n}, []float64{bits}
	o := &Outcome{Config: c}
	for _, x := range []struct {
		shape, density string
		kind           kind.Kind
		positives      int
	}{
		{"random", "any", c.Kinds[0], 12_000}, {"random", "any", bounded, 1},
		{"decimal", "63%", c.Kinds[0], 900_000}, {"decimal", "63%", bounded, falsePositives},
	} {
		s := &sampler{kind: x.kind, Record: Record{Kind: x.kind.Name, Shape: x.shape,
			Density: x.density, N: n, Bits: bits, FilterBytes: 128}}
		for range 4 {
			s.rate.add(1_000_000, x.positives)
		}
		s.summarize()
		o.Records = append(o.Records, s.Record)
	}
	return o
}

// A rate may be 5 standard errors above its bound, and no more. With 4M queries the error is 49.7 a
// million at the bound.
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
		{"the smallest number of keys", 500, 10, 10_000 + 6*50, true},
		{"fewer keys", 499, 10, 900_000, false},
		{"bits without a promise", 1000, 12, 900_000, false},
	} {
		o := outcome(t, c.n, c.bits, c.falsePositives)
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
	o := outcome(t, 1024, 10, 10_051)
	r := &report.Report{Command: "bench rates"}
	o.Report(r)
	var b bytes.Buffer
	require.NoError(t, r.WriteText(&b, 100))
	require.Regexp(t, `│ +1024 │ bloom +│ +1\.00 │ 45\.60 +│ 90\.00 \[89\.97 to 90\.03\] │ `+
		`decimal 63% +│ +│`, b.String())
	require.Regexp(t, `│ +1024 │ bounded │ +1\.00 │ 0\.5026 │ 1\.01 \[0\.9954 to 1\.01\] +│ `+
		`decimal 63% +│ 1\.00 +│`, b.String())
	require.Regexp(t, `│ random +│ 1\.20 \[1\.19 to 1\.21\] +│ 0\.0001 \[`, b.String())
	require.Contains(t, b.String(), "bounded: no rate of 2 is more than 5 standard errors")
	require.Contains(t, b.String(), "63%: 63 % of a range of keys is present")
	require.InDelta(t, 1.03, r.Records.([]Record)[3].Excess, 0.01)
	require.NoError(t, r.WriteJSON(&b))
}

// The charts have the shapes with examples, the kinds, and an engine's own filter where it belongs.
func TestShapeFigure(t *testing.T) {
	c := config(append(kind.All, kind.Own...)...)
	c.Ns, c.Shapes = []int{WindowKeys, 1000}, shapes(t, "random", "user")
	c.Densities = []keys.Density{density(t, "63%")}
	records, err := c.Run(context.Background())
	require.NoError(t, err)
	figure := ShapeFigure(records)
	require.Len(t, figure.Charts, 2)
	for i, want := range [][]string{
		{">random<", ">user<", ">user0000000000000042<", ">bloom<", ">ribbon<",
			">goleveldb: 36 keys per filter<", ">goleveldb&#39;s own<"},
		{">user0000000000000042<", ">Pebble: 1k keys per filter<", ">Pebble&#39;s own<"},
	} {
		one := *figure
		one.Charts = figure.Charts[i : i+1]
		for _, text := range want {
			require.Contains(t, string(one.Inline()), text)
		}
	}
	figure.Charts = figure.Charts[:1]
	require.NotContains(t, string(figure.Inline()), "Pebble")
}
