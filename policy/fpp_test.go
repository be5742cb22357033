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

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// FPP against filters of random keys: it is within 5 % of the measured rate, give or take five
// standard errors of the measurement.
func TestFPP(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	exact := func(b float64) *Policy { return testkit.Must(NewBloom(b)) }
	ribbon := func(b float64) *Policy { return testkit.Must(NewRibbon(b)) }
	for _, c := range []struct {
		p *Policy
		n int
	}{
		{exact(4), 8}, {exact(10), 20}, {exact(20), 20},
		{exact(16), 32}, // 512 bits: 2^32 is a multiple of them
		{exact(19.511), 122}, {exact(10), 1000},
		{exact(1.5), 1000},   // k = 1: the model is exact
		{exact(3), 1756},     // k = 2: no probe with j = 2
		{exact(3), 1000},     // probe 1 prefers two thirds of the bits
		{exact(10), 6000},    // probe 3 prefers some, as 5 divides their number
		{exact(3), 100_000},  // as with 1000, but computed and not simulated
		{exact(10), 100_000}, // probe 2 takes few values
		{exact(5), 150_000},  // these form a pattern
		{exact(3), 260_003},
		{exact(18), 401_054}, // most probes of some keys fall on values of probe 2
		{testkit.Must(NewBloom(10, WithTuning())), 36},
		{ribbon(2), 1}, {ribbon(2), 9}, {ribbon(7.5), 5}, {ribbon(7.2), 20}, {ribbon(10), 36},
		{ribbon(4.5), 500}, {ribbon(10), 700}, {ribbon(2), 701}, {ribbon(9.3), 2500},
		{ribbon(16), 64}, {ribbon(7.5), 3000}, {ribbon(10), 20_000}, {ribbon(5.5), 100_000},
	} {
		t.Run(fmt.Sprintf("%v, %d keys", c.p, c.n), func(t *testing.T) {
			if c.n > 2000 || c.p.setting.BitsPerKey > 10 {
				testkit.Large(t)
			}
			predicted := c.p.FPP(c.n)
			rate, standardError := measure(t, c.p, c.n, predicted)
			require.InDelta(t, rate, predicted, 0.05*rate+5*standardError)
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

// measure measures the rate of random keys to about 0.5 %. The standard error is that between
// filters, not that of single answers, because filters differ.
func measure(t testing.TB, p *Policy, n int, about float64) (rate, standardError float64) {
	rng := testkit.Rand(t, int64(n))
	key := make([]byte, 12)
	builder := p.NewBuilder()
	queries := min(40_000/about, 3e6)
	perFilter := max(50, n/2)
	filters := max(4, math.Ceil(queries/float64(perFilter)))
	perFilter = int(queries / filters)
	var sum, squares float64
	for range int(filters) {
		for range n {
			rng.Read(key)
			builder.Add(key)
		}
		filter := builder.Finish(nil)
		found := 0.0
		for range perFilter {
			if rng.Read(key); p.MayContain(filter, key) {
				found++
			}
		}
		sum += found
		squares += found * found
	}
	mean := sum / filters
	variance := max(mean, squares/filters-mean*mean)
	return mean / float64(perFilter), math.Sqrt(variance/filters) / float64(perFilter)
}

func TestFPPExtremes(t *testing.T) {
	for _, p := range []*Policy{
		testkit.Must(NewBloom(1)),
		testkit.Must(NewRibbon(2)), testkit.Must(NewRibbon(40)),
	} {
		require.Zero(t, p.FPP(0))
		const refusal = "policy: a filter of -1 keys: pass 0 or more"
		require.PanicsWithValue(t, refusal, func() { p.FPP(-1) })
		require.PanicsWithValue(t, refusal, func() { p.FilterSize(-1) })
		for _, n := range []int{1, 100_000, math.MaxInt} {
			rate := p.FPP(n)
			require.True(t, rate > 0 && rate <= 1, "%v, %d keys: %v", p, n, rate)
		}
	}
	// Computed, not simulated. bench's TestLarge measures 3.1 % with 10 bits.
	require.InEpsilon(t, 0.0322, testkit.Must(NewBloom(10)).FPP(100_000_000), 0.01)
	require.InEpsilon(t, 0.641, testkit.Must(NewBloom(1)).FPP(100_000_000), 0.01)
	// More keys than a ribbon filter has room for would need more memory than the tests have.
	r := testkit.Must(NewRibbon(10))
	require.Greater(t, r.FilterSize(1<<28), uint64(1<<28))
	require.EqualValues(t, 2, r.FilterSize(1<<28+1))
	require.Less(t, r.FPP(1<<28), 0.01)
	require.Equal(t, 1.0, r.FPP(1<<28+1))
}

// The tables in the comments of NewBloom and NewRibbon: FPPs in percent, rounded by less than 1 %,
// and the size of a filter of 1,000 keys.
func TestTables(t *testing.T) {
	for kind, fpps := range map[string]func(p *Policy) []float64{
		"bloom": func(p *Policy) []float64 {
			if !testkit.IsLarge() {
				return nil // each takes up to a second
			}
			return []float64{p.FPP(20), p.FPP(1000), p.FPP(100_000), p.FPP(1_000_000)}
		},
		"ribbon": func(p *Policy) []float64 {
			return []float64{math.Exp2(-p.setting.BitsPerKey),
				mostFPP(p, 1, 700), mostFPP(p, 701, 4999), mostFPP(p, 5000, 1<<28)}
		},
	} {
		source, err := os.ReadFile(kind + ".go")
		require.NoError(t, err)
		rows := regexp.MustCompile(`(?m)^//\t(\d+) +([\d. ]+)$`).FindAllStringSubmatch(string(source), -1)
		require.GreaterOrEqual(t, len(rows), 3)
		for _, row := range rows {
			p := testkit.Must(FromString(kind + ":" + row[1]))
			cells := strings.Fields(row[2])
			for i, fpp := range fpps(p) {
				want, err := strconv.ParseFloat(cells[i], 64)
				require.NoError(t, err)
				require.InEpsilon(t, want, 100*fpp, 0.01, "%v, column %d", p, i)
			}
			require.Equal(t, cells[4], fmt.Sprint(p.FilterSize(1000)))
		}
	}
}

func mostFPP(p *Policy, from, to int) (most float64) {
	for n := from; n <= to; n += 1 + n/5000 {
		most = max(most, p.FPP(n))
	}
	return most
}
