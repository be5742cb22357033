package ratebench

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
	"github.com/levelbloom/levelbloom/bench/internal/report"
	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

// Filters have the size for capacity keys, and the bits of the keys that they contain, and no
// others.
func TestSized(t *testing.T) {
	all := policytest.Keys(policytest.Rand(t, 1), 2500)
	p := policytest.Must(policy.NewBloom(10))
	const capacity = 1000
	b := newSizedBuilder(p, capacity)
	for _, n := range []int{1, 300, 1000, 1001, 2000, 2500, 999} {
		for _, key := range all[:n] {
			b.Add(key)
		}
		filter := b.Finish([]byte("x"))[1:]
		require.Len(t, filter, int(p.FilterSize(capacity)))
		info, err := policy.Parse(filter)
		require.NoError(t, err)
		bits := map[uint64]bool{}
		for _, key := range all[:n] {
			for _, bit := range info.Probes(nil, key) {
				bits[bit] = true
				require.NotZero(t, info.Payload[bit/8]&(1<<(bit%8)))
			}
		}
		require.Equal(t, len(bits), info.Ones(), "%d keys", n)
	}
}

func TestFills(t *testing.T) {
	require.Equal(t, []int{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300,
		1400, 1500}, Fills(1000))
	require.Equal(t, []int{1}, Fills(1))
}

// curve returns a config against an axis.
func curve(t *testing.T, against Axis) *Config {
	c := config(kind.All...)
	c.Against, c.Shapes, c.Densities = against, shapes(t, "random"), []keys.Density{keys.Anywhere}
	c.Ns, c.Capacity, c.Queries = []int{1000}, 1000, 100_000
	switch against {
	case Fill:
		c.Ns = []int{500, 1000, 1500}
	case Bits:
		c.Bits = []float64{5, 10}
	case Keys:
		c.Ns = []int{100, 2000}
	}
	require.NoError(t, c.Validate())
	return c
}

// Random keys give what is computed, against every axis, and reports and pictures show it.
func TestCurves(t *testing.T) {
	for against, want := range map[Axis]struct {
		records int
		texts   []string
	}{
		Fill: {3, []string{">capacity<", "keys / capacity of 1k keys", "textbook", "computed"}},
		Bits: {2 * 3, []string{">ribbon<", ">1k keys per filter, INCOMPLETE<"}},
		Keys: {2 * 3, []string{">tuned<", ">10 bits per key, INCOMPLETE<"}},
	} {
		c := curve(t, against)
		records, err := c.Run(context.Background())
		require.NoError(t, err)
		require.Len(t, records, want.records)
		for _, r := range records {
			// Filters differ, which adds to the error of the answers; formulas are within 5 %.
			standard := math.Sqrt(r.FPP/float64(r.Queries)) + 0.03*r.FPP
			require.InDelta(t, r.FPP, r.FPR, 5*standard+0.05*r.FPP, "%+v", r)
			if r.Kind == "bloom" && r.N >= 1000 {
				require.InEpsilon(t, math.Pow(1-math.Exp(-float64(r.K)*float64(r.N)/
					(r.Bits*float64(r.Capacity))), float64(r.K)), r.Textbook, 0.01)
			}
		}
		r := report.Report{Incomplete: context.Canceled}
		(&Outcome{c, records}).Report(&r)
		require.Len(t, r.Tables, 1)
		require.Len(t, r.Tables[0].Rows, len(groups(records, against.of)))
		var picture bytes.Buffer
		require.NoError(t, r.WriteSVG(&picture))
		for _, text := range want.texts {
			require.Contains(t, picture.String(), text)
		}
		require.NotRegexp(t, "NaN|Inf", picture.String())
	}
}

// Of a run that ended early there may be a rate or two, all 0.
func TestCurveOfNothing(t *testing.T) {
	var b bytes.Buffer
	figure := CurveFigure(Bits, []Record{{Kind: "ribbon", Bits: 10}}, true)
	_, err := figure.WriteTo(&b)
	require.NoError(t, err)
	require.NotRegexp(t, "NaN|Inf", b.String())
}

func TestValidate(t *testing.T) {
	c := curve(t, Bits)
	c.Densities = keys.Densities
	c.Shapes = shapes(t, "decimal")
	require.ErrorContains(t, c.Validate(), "-against bits: pass one shape and one density")
	c = curve(t, Keys)
	c.Bits = []float64{0}
	require.ErrorContains(t, c.Validate(), "-bits: bloom: policy: 0 bits per key")
	c.Queries = 0
	require.ErrorContains(t, c.Validate(), "-queries 0: pass 1")
}
