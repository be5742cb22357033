package ratebench

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/kind"
	"github.com/levelbloom/levelbloom/bench/measure"
	"github.com/levelbloom/levelbloom/policy"
)

type silent struct{ total, steps, done int }

func (s *silent) Start(total int) { s.total = total }
func (s *silent) Next(string)     { s.steps++ }
func (s *silent) Done()           { s.done++ }

func always(rate float64) fake { return fake{rateOf: func(uint64) float64 { return rate }} }

// varying has filters with a rate of 0.4 and others, as many, of 0.
var varying = fake{rateOf: func(filter uint64) float64 { return 0.4 * float64(filter%2) }}

func config(encodings ...Encoding) *Config {
	return &Config{Encodings: encodings, Shapes: Shapes, Densities: Densities, Ns: []int{20}, Bits: []float64{10}, Error: 1e-9, Queries: 10_000, Seed: 1, Progress: &silent{}}
}

// Rates and their errors are what they are known to be: no less and no more. Errors depend on whether filters differ.
func TestEstimates(t *testing.T) {
	c := config(always(0.03).encoding("equal"), varying.encoding("varying"))
	c.Queries = 20_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	cells, leftOut := c.Cells()
	require.Len(t, results, len(cells))
	require.Equal(t, 2+14*5, len(cells)+leftOut)
	z := make([]float64, 0, len(results))
	for _, r := range results {
		equal, varies := r.Rates[0], r.Rates[1]
		require.Equal(t, equal.Queries, varies.Queries)
		m, q := float64(equal.Filters), float64(equal.Queries)
		require.GreaterOrEqual(t, equal.Filters, 10, "%v", r.Cell)
		if r.isReference() {
			require.GreaterOrEqual(t, equal.Queries, 9*c.Queries, "%v", r.Cell)
		} else if len(r.Shape.appendKey(nil, 0, 1)) > shortKey || r.Shape.indexes == lengths {
			require.LessOrEqual(t, equal.Queries, c.Queries+512, "%v", r.Cell)
		} else {
			require.GreaterOrEqual(t, equal.Queries, c.Queries, "%v", r.Cell)
		}

		known := math.Sqrt(0.03 * 0.97 / q)
		require.GreaterOrEqual(t, equal.Error(), 0.9*known, "%v", r.Cell)
		require.Less(t, equal.Error(), known*(1.1+4/math.Sqrt(2*m)), "%v", r.Cell)
		z = append(z, (equal.Mean()-0.03)/known)
		require.Less(t, math.Abs(z[len(z)-1]), 4.5, "%v", r.Cell)

		known = 0.2 / math.Sqrt(m) // of the mean of m filters with a rate of 0 or 0.4
		require.InDelta(t, 0.2, varies.Mean(), 5*known, "%v", r.Cell)
		if m >= 50 {
			require.InEpsilon(t, known, varies.Error(), 0.4, "%v: %v filters", r.Cell, m)
		}
	}
	// All together they are right to a part of a standard error.
	var sum, squares float64
	for _, x := range z {
		sum += x
		squares += x * x
	}
	n := float64(len(z))
	require.Less(t, math.Abs(sum/n), 4/math.Sqrt(n))
	require.InDelta(t, 1, squares/n, 4*math.Sqrt(2/n))
}

// A cell ends when its errors are small enough, of all encodings.
func TestEnough(t *testing.T) {
	c := config(always(0.5).encoding("half"), always(0.05).encoding("less"))
	c.Shapes, c.Error, c.Queries = []Shape{shapeNamed(t, "uuid"), shapeNamed(t, "random")}, 0.05, 1_000_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	for _, rate := range results[0].Rates {
		require.LessOrEqual(t, rate.Error(), 0.05*rate.Mean())
	}
	// The binomial error of 0.05 is 5 % of it after 7600 queries; that between filters may be a bit larger.
	require.Greater(t, results[0].Rates[1].Queries, 7000)
	require.Less(t, results[0].Rates[1].Queries, 25_000)
	// What others are compared with has a third of the error, so nine times as many.
	require.LessOrEqual(t, results[1].Rates[1].Error(), 0.05/3*results[1].Rates[1].Mean())
	require.Greater(t, results[1].Rates[1].Queries, 9*7000)

	c.Encodings = []Encoding{always(0).encoding("never")}
	c.Queries = 30_000
	results, err = c.Run(context.Background())
	require.NoError(t, err)
	require.GreaterOrEqual(t, results[0].Rates[0].Queries, 30_000, "no false positive is no small error")
}

func TestRate(t *testing.T) {
	var r Rate
	require.Zero(t, r.Mean())
	require.True(t, math.IsInf(r.Error(), 1))
	r.add(100, 10)
	require.InDelta(t, math.Sqrt(0.1*0.9/100), r.Error(), 1e-12, "one filter has no variance")
	r.add(100, 30)
	require.InDelta(t, 0.2, r.Mean(), 1e-12)
	require.InDelta(t, 0.1, r.Error(), 1e-12, "standard deviation of 0.1 and 0.3, by the root of 2")
	r.add(100, 20)
	require.InDelta(t, 0.1/math.Sqrt(3), r.Error(), 1e-12)
	r.add(0, 0)
	require.InDelta(t, 0.2, r.Mean(), 1e-12, "a filter without queries has no weight")

	r = Rate{}
	r.add(100, 20)
	r.add(100, 20)
	require.InDelta(t, math.Sqrt(0.2*0.8/200), r.Error(), 1e-12, "equal by chance: the binomial error")

	r = Rate{}
	r.add(300, 30)
	r.add(100, 50)
	require.InDelta(t, 0.2, r.Mean(), 1e-12, "weighted by queries")
	require.InDelta(t, math.Sqrt(2*(30*30+30*30))/400, r.Error(), 1e-12)
}

// The same seed gives the same results, whatever is measured beside them; another seed gives others.
func TestDeterministic(t *testing.T) {
	run := func(change func(*Config)) map[string]Result {
		c := config(Encodings...)
		c.Ns = []int{8, 1500}
		c.Bits = []float64{10, 20}
		c.Queries = 2000
		change(c)
		results, err := c.Run(context.Background())
		require.NoError(t, err)
		byCell := map[string]Result{}
		for _, r := range results {
			byCell[r.Cell.String()] = r
		}
		require.Len(t, byCell, len(results))
		return byCell
	}
	first := run(func(*Config) {})
	again := run(func(*Config) {})
	fewer := run(func(c *Config) { c.Shapes, c.Bits, c.Ns = c.Shapes[2:4], []float64{20}, []int{1500} })
	other := run(func(c *Config) { c.Seed = 2 })
	require.Len(t, fewer, 10)
	same := 0
	for cell, r := range first {
		require.Equal(t, r.Rates, again[cell].Rates, cell)
		if f, ok := fewer[cell]; ok {
			require.Equal(t, r.Rates, f.Rates, cell)
		}
		if r.Rates[0] == other[cell].Rates[0] {
			same++
		}
	}
	require.Less(t, same, len(first)/4, "rates of few false positives may be the same by chance")
}

// In a cell that a textbook knows, the encodings do what it says; and their sizes are right.
func TestEncodings(t *testing.T) {
	c := config(Encodings...)
	c.Shapes, c.Ns, c.Error, c.Queries = []Shape{shapeNamed(t, "random")}, []int{3000}, 0.01, 2_000_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	textbook := math.Pow(1-math.Exp(-6.0/10), 6) // k = 6 of 10 bits
	exact, blocked, fuse := results[0].Rates[0], results[0].Rates[1], results[0].Rates[2]
	require.InEpsilon(t, textbook, exact.Mean(), 0.15)
	require.Greater(t, blocked.Mean(), textbook-4*blocked.Error(), "lines are unequally full")
	require.Less(t, blocked.Mean(), 0.01)
	require.Equal(t, blocked, fuse, "it is the same filter")
	require.Equal(t, []int{3750 + 1, 3776 + 3, 3776 + 3}, results[0].Sizes)
	require.Equal(t, []kind.Kind{{Encoding: kind.Exact}, {Encoding: kind.Blocked}, {Encoding: kind.Blocked}}, results[0].Kinds)
}

// Binary fuse filters of all widths have the rate of their fingerprints, and are so large as the description of the format has it:
// 3000 keys have a capacity of 3919 cells, and so 16 segments of 256.
func TestFuse(t *testing.T) {
	c := config(Encodings[2])
	c.Shapes, c.Ns, c.Bits, c.Queries = []Shape{shapeNamed(t, "random"), shapeNamed(t, "decimal")}, []int{3000}, []float64{12, 18, 24}, 1_000_000
	results, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, results, 3*(1+5))
	for i, r := range results {
		width := []int{8, 12, 16}[i%3]
		require.Equal(t, []kind.Kind{{Encoding: kind.Fuse, Width: width}}, r.Kinds)
		require.Equal(t, []int{4096*width/8 + 16}, r.Sizes)
		v := verdict{rate: r.Rates[0], limit: fuseLimit(width)}
		require.LessOrEqual(t, v.excess(), 5.0, "%v: %v", r.Cell, r.Rates[0].Mean())
	}
	report := Report{Encodings: c.Encodings, Results: results}
	require.NoError(t, report.Err())
}

// A builder that chooses does so by the number of keys alone.
func TestTwoKindsInACell(t *testing.T) {
	filters := 0
	c := config(Encoding{"fickle", "", func(float64) (policy.Policy, error) {
		return fickle{always(0.1), func() []byte { filters++; return [][]byte{{6, 1, 0x42}, {0}}[filters/5] }}, nil
	}, nil})
	c.Shapes = c.Shapes[:1]
	_, err := c.Run(context.Background())
	require.EqualError(t, err, "random, 20 keys, 10 bits per key: filters of two kinds: blocked and, of keys from index 0 on, exact")
}

// fickle is a policy whose filters have ends of its own.
type fickle struct {
	fake
	end func() []byte
}

func (f fickle) NewBuilder() policy.Builder { return fickleBuilder{f.fake.NewBuilder(), f.end} }

func (f fickle) MayContain(_, _ []byte) bool { return true }

type fickleBuilder struct {
	policy.Builder
	end func() []byte
}

func (b fickleBuilder) Finish(dst []byte) []byte { return append(b.Builder.Finish(dst), b.end()...) }

// Small filters of the same keys are measured together, large ones each by itself.
func TestTogether(t *testing.T) {
	c := config()
	c.Ns, c.Bits = []int{1000, 2_500_000, 10_000_000}, []float64{9, 10, 11}
	c.Shapes = []Shape{shapeNamed(t, "uuid"), shapeNamed(t, "random")}
	cells, _ := c.Cells()
	var sizes []int
	var again []Cell
	for _, group := range together(cells) {
		sizes = append(sizes, len(group))
		for _, cell := range group {
			require.Equal(t, group[0].keysOf(), cell.keysOf())
			again = append(again, cell)
		}
	}
	require.Equal(t, []int{3, 3, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1}, sizes)
	require.Len(t, again, len(cells))
	for i := range cells {
		require.Equal(t, cells[i].String(), again[i].String())
	}
}

// Cells that are measured together end each by itself, and have the rates that they have alone.
func TestTogetherAndAlone(t *testing.T) {
	c := config(Encoding{"fake", "", func(bits float64) (policy.Policy, error) { return always(1 / bits), nil }, nil})
	c.Shapes, c.Error, c.Queries = []Shape{shapeNamed(t, "uuid"), shapeNamed(t, "decimal")}, 0.05, 1_000_000
	run := func(bits ...float64) (results []Result) {
		c.Bits = bits
		results, err := c.Run(context.Background())
		require.NoError(t, err)
		return results
	}
	both, first, second := run(2, 20), run(2), run(20)
	require.Len(t, both, 2*(1+5))
	for i := range first {
		require.Equal(t, first[i].Rates, both[2*i].Rates)
		require.Equal(t, second[i].Rates, both[2*i+1].Rates)
		require.Less(t, first[i].Rates[0].Queries, second[i].Rates[0].Queries)
	}
}

func TestProgress(t *testing.T) {
	c := config(always(0.1).encoding("fake"))
	p := &silent{}
	c.Progress, c.Ns, c.Queries = p, []int{8, 20}, 100
	_, err := c.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, silent{2 * len(Shapes), 2 * len(Shapes), 1}, *p)
}

func TestLostKey(t *testing.T) {
	c := config(fake{rateOf: func(uint64) float64 { return 0 }, lose: true}.encoding("loser"))
	_, err := c.Run(context.Background())
	require.ErrorIs(t, err, measure.ErrLostKey)
	require.ErrorContains(t, err, ", 20 keys, 10 bits per key: a key is lost")
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough of it")
	cancel(cause)
	_, err := config(Encodings...).Run(ctx)
	require.ErrorIs(t, err, cause)

	// In a cell that would take very long too.
	ctx, cancel = context.WithCancelCause(context.Background())
	c := config(Encoding{"slow", "", func(float64) (policy.Policy, error) {
		cancel(cause)
		return policy.NewBloom(10)
	}, nil})
	c.Shapes, c.Queries, c.Ns = c.Shapes[:1], 1_000_000_000, []int{20_000_000}
	_, err = c.Run(ctx)
	require.ErrorIs(t, err, cause)
}

// Shapes without order have one density; what a shape has not the keys for is left out, and counted.
func TestCells(t *testing.T) {
	c := config()
	c.Ns = []int{1000}
	cells, leftOut := c.Cells()
	byShape := map[string]int{}
	for _, cell := range cells {
		byShape[cell.keys()]++
	}
	require.Equal(t, 1, byShape["random"])
	require.Equal(t, 1, byShape["uuid"])
	require.Equal(t, 1, byShape["decimal alternating"])
	require.Equal(t, 1, byShape["length alternating"])
	require.Zero(t, byShape["length 1%"], "100,000 lengths")
	require.Equal(t, 4, leftOut, "length and length-a with 10 % and 1 %")
	require.Len(t, byShape, 2+14*5-4)

	c.Ns, c.Shapes = []int{10_000_000}, []Shape{shapeNamed(t, "key"), shapeNamed(t, "bits"), shapeNamed(t, "decimal")}
	_, leftOut = c.Cells()
	require.Equal(t, 2, leftOut, "key and bits with 1 %")
}
