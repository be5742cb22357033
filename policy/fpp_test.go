package policy

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/internal/policytest"
)

// FPP, and the estimates from the bytes, against filters of random keys: FPP is within 5 % of the
// measured rate, and the estimates are within their stated errors; give or take five standard
// errors of the measurement. ratio is how many times the estimated FPP the measured rate is.
func TestFPP(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	exact := func(b float64) Sized { return policytest.Must(NewBloom(b)) }
	ribbon := func(b float64) Sized { return policytest.Must(NewRibbon(b)) }
	for _, c := range []struct {
		p                  Sized
		n                  int
		keysWithin         float64
		ratioFrom, ratioTo float64
	}{
		{exact(4), 8, 0.1, 0.9, 1.1},
		{exact(10), 20, 0.02, 1.35, 1.45},
		{exact(20), 20, 0.02, 15, 19},
		{exact(16), 32, 0.05, 5, 8}, // 512 bits: 2^32 is a multiple of them
		{exact(19.511), 122, 0.05, 2.5, 3.5},
		{exact(10), 1000, 0.02, 1, 1.1},
		{exact(1.5), 1000, 0.02, 0.98, 1.02}, // k = 1: the model is exact
		{exact(3), 1756, 0.02, 0.98, 1.02},   // k = 2: no probe with j = 2
		{exact(3), 1000, 0.05, 1.15, 1.25},   // probe 1 prefers two thirds of the bits
		{exact(10), 6000, 0.02, 0.95, 1.15},  // probe 3 prefers some, as 5 divides their number
		{exact(3), 100_000, 0.05, 0.98, 1.3}, // as with 1000, but computed and not simulated
		{exact(10), 100_000, 0.02, 1.2, 1.35},
		{exact(5), 150_000, 0.1, 1.2, 1.6}, // the values of probe 2 form a pattern
		{exact(3), 260_003, 0.02, 0.98, 1.02},
		{exact(18), 401_054, 0.1, 1.2, 1.7}, // most probes of some keys fall on values of probe 2
		{policytest.Must(NewBloom(10, WithTuning(0.05))), 150_000, 0.1, 1, 1.4},
		{ribbon(2), 9, 0.03, 0.95, 1.05}, {ribbon(7.2), 20, 0.03, 0.95, 1.05},
		{ribbon(4.5), 500, 0.03, 0.95, 1.05}, {ribbon(9.3), 2500, 0.03, 0.95, 1.05},
		{ribbon(5.5), 100_000, 0.03, 0.95, 1.05},
	} {
		t.Run(fmt.Sprintf("%v, %d keys", c.p, c.n), func(t *testing.T) {
			if c.n > 2000 || c.p.BitsPerKey() > 10 {
				policytest.Large(t)
			}
			predicted := c.p.FPP(c.n)
			m := measure(t, c.p, c.n, predicted)
			require.InDelta(t, m.rate, predicted, 0.05*m.rate+5*m.standardError)
			// The spread of one estimate is below sqrt(n), as the keys' number would have to vary
			// to explain it.
			n := float64(c.n)
			require.InDelta(t, n, m.keys, c.keysWithin*n+5*math.Sqrt(n/m.filters))
			require.Greater(t, m.rate+5*m.standardError, c.ratioFrom*m.fpp)
			require.Less(t, m.rate-5*m.standardError, c.ratioTo*m.fpp)
		})
	}
	require.Equal(t, exact(4).FPP(8), exact(4).FPP(8), "it is not random")

	// The few hashes whose probes coincide weigh much. Drawn by chance alone, they would make the
	// FPPs of nearly equal filters differ by a factor of more than 20.
	least, most := 1.0, 0.0
	for n := 1000; n < 1004; n++ {
		fpp := exact(30).FPP(n)
		least, most = min(least, fpp), max(most, fpp)
	}
	require.Less(t, most, 4*least)
}

// A measurement is the rate of random keys, its standard error between filters, which is not that
// of single answers, as filters differ, and the means of the estimates.
type measurement struct{ filters, rate, standardError, keys, fpp float64 }

// measure measures a rate to about 0.5 %.
func measure(t testing.TB, p Sized, n int, about float64) measurement {
	rng := policytest.Rand(t, int64(n))
	key := make([]byte, 12)
	builder := p.NewBuilder()
	queries := min(40_000/about, 3e6)
	perFilter := max(50, n/2)
	m := measurement{filters: max(4, math.Ceil(queries/float64(perFilter)))}
	perFilter = int(queries / m.filters)
	var sum, squares float64
	for range int(m.filters) {
		for range n {
			rng.Read(key)
			builder.Add(key)
		}
		filter := builder.Finish(nil)
		keys, fpp := mustParse(t, filter).Estimate()
		m.keys, m.fpp = m.keys+keys/m.filters, m.fpp+fpp/m.filters
		found := 0.0
		for range perFilter {
			if rng.Read(key); p.MayContain(filter, key) {
				found++
			}
		}
		sum += found
		squares += found * found
	}
	mean := sum / m.filters
	variance := max(mean, squares/m.filters-mean*mean)
	m.rate = mean / float64(perFilter)
	m.standardError = math.Sqrt(variance/m.filters) / float64(perFilter)
	return m
}

func mustParse(t testing.TB, filter []byte) Info {
	info, err := Parse(filter)
	require.NoError(t, err)
	return info
}

func TestFPPExtremes(t *testing.T) {
	for _, p := range []Sized{
		policytest.Must(NewBloom(0.01)),
		policytest.Must(NewRibbon(2)), policytest.Must(NewRibbon(40)),
	} {
		require.Zero(t, p.FPP(0))
		const refusal = "policy: a filter of -1 keys: pass 0 or more"
		require.PanicsWithValue(t, refusal, func() { p.FPP(-1) })
		require.PanicsWithValue(t, refusal, func() { p.FilterSize(-1) })
		for _, n := range []int{1, 100_000, math.MaxInt} {
			rate := p.FPP(n)
			require.True(t, rate > 0 && rate <= 1, "%T, %d keys: %v", p, n, rate)
		}
	}
}

// The table in the comment of NewBloom.
func TestTableOfNewBloom(t *testing.T) {
	policytest.Large(t)
	source, err := os.ReadFile("bloom.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^//\t(\d+) +([\d. ]+)$`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, rows, 5)
	for _, row := range rows {
		p := policytest.Must(FromString("bloom:" + row[1]))
		cells := strings.Fields(row[2])
		for i, n := range []int{20, 1000, 100_000, 1_000_000} {
			if n > 1000 && row[1] != "10" {
				continue // to compute it takes a second
			}
			want, err := strconv.ParseFloat(cells[i], 64)
			require.NoError(t, err)
			require.InEpsilon(t, want, 100*p.FPP(n), 0.01, "%v, %d keys", p, n)
		}
		require.Equal(t, cells[4], fmt.Sprint(p.FilterSize(1000)))
	}
}

func TestEstimateExtremes(t *testing.T) {
	for _, k := range []byte{1, 2, 3, 30} {
		keys, fpp := mustParse(t, []byte{0, 0, 0, k}).Estimate()
		require.Zero(t, keys)
		require.Zero(t, fpp)

		keys, fpp = mustParse(t, []byte{0xff, 0xff, 0xff, k}).Estimate()
		require.True(t, math.IsInf(keys, 1))
		require.Equal(t, 1.0, fpp)

		// One bit less than all is a large number of keys, not the end of the bisection.
		keys, fpp = mustParse(t, []byte{0xff, 0xff, 0xfe, k}).Estimate()
		require.InDelta(t, math.Log(24)*24/float64(k), keys, 0.03*keys)
		require.InDelta(t, math.Pow(23.0/24, float64(k)), fpp, 1e-4)
	}
}
