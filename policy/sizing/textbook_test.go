package sizing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Published answers: of the calculator at hur.st, of steakknife/bloomfilter and of Redisson.
func TestKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		n, p     float64
		rounding Rounding
		m        uint64
		k        int
	}{
		{1e9, 0.02, Up, 8_142_363_337, 6},
		{1e9, 0.02, Guava, 8_142_363_336, 6},
		{10, 0.1, Up, 48, 4},
		{10, 0.1, Guava, 47, 3},
	} {
		m, err := Bits(c.n, c.p, c.rounding)
		require.NoError(t, err)
		require.Equal(t, c.m, m)
		k, err := Probes(float64(m), c.n, c.rounding)
		require.NoError(t, err)
		require.Equal(t, c.k, k)
	}
	for _, c := range []struct{ n, p, mebibytes, within float64 }{
		{1e6, 0.0001, 2.29, 0.005}, {1e7, 0.0001, 22.85, 0.005}, {1e8, 0.0001, 228.53, 0.005},
		{1e6, 0.0000001, 4, 0.005}, {1e7, 0.0000001, 40, 0.05}, {1e8, 0.0000001, 400, 0.5},
	} {
		m, err := Bits(c.n, c.p, Up)
		require.NoError(t, err)
		require.InDelta(t, c.mebibytes, float64(m)/8/(1<<20), c.within)
		require.GreaterOrEqual(t, float64(m), 1.44*c.n*math.Log2(1/c.p))
	}
}

// The formulas invert each other.
func TestTextbook(t *testing.T) {
	for _, p := range []float64{0.5, 0.1, 0.01, 1e-6} {
		const n = 1e6
		m, err := Bits(n, p, Up)
		require.NoError(t, err)
		k, err := Probes(float64(m), n, Guava)
		require.NoError(t, err)
		fpp, err := FPP(n, float64(m), k)
		require.NoError(t, err)
		require.InEpsilon(t, p, fpp, 0.03) // k is rounded
		for _, other := range []int{k - 1, k + 1} {
			if other > 0 {
				worse, err := FPP(n, float64(m), other)
				require.NoError(t, err)
				require.Greater(t, worse, fpp)
			}
		}
		set := float64(m) * -math.Expm1(-float64(k)*n/float64(m))
		keys, err := Keys(set, float64(m), k)
		require.NoError(t, err)
		require.InEpsilon(t, n, keys, 1e-9)
		same, err := FPPOfSet(set, float64(m), k)
		require.NoError(t, err)
		require.InEpsilon(t, fpp, same, 1e-9)
	}
	keys, err := Keys(8, 8, 1)
	require.NoError(t, err)
	require.True(t, math.IsInf(keys, 1))
	fpp, err := FPPOfSet(0, 8, 1)
	require.NoError(t, err)
	require.Zero(t, fpp)
}

func TestTextbookRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, p := range []float64{0, 1, -1, 2, nan, inf} {
		_, err := BitsPerKey(p)
		require.ErrorContains(t, err, "above 0 and below 1")
		_, err = Bits(10, p, Up)
		require.ErrorContains(t, err, "above 0 and below 1")
	}
	for _, x := range []float64{0, -1, nan, inf} {
		_, err := Bits(x, 0.1, Up)
		require.ErrorContains(t, err, "keys: pass")
		_, err = Probes(10, x, Up)
		require.ErrorContains(t, err, "keys: pass")
		_, err = Probes(x, 10, Up)
		require.ErrorContains(t, err, "bits: pass")
		_, err = FPP(x, 10, 1)
		require.ErrorContains(t, err, "keys: pass")
		_, err = FPP(10, x, 1)
		require.ErrorContains(t, err, "bits: pass")
		_, err = Keys(0, x, 1)
		require.ErrorContains(t, err, "bits: pass")
	}
	for _, set := range []float64{-1, 11, nan} {
		_, err := Keys(set, 10, 1)
		require.ErrorContains(t, err, "of 10 bits are set")
		_, err = FPPOfSet(set, 10, 1)
		require.ErrorContains(t, err, "of 10 bits are set")
	}
	_, err := FPP(10, 10, 0)
	require.ErrorContains(t, err, "probes: pass")
	_, err = FPPOfSet(1, 10, 0)
	require.ErrorContains(t, err, "probes: pass")
	_, err = Bits(1e17, 0.1, Up)
	require.ErrorContains(t, err, "more than 2^53")
	_, err = Probes(1e300, 1, Up)
	require.ErrorContains(t, err, "fewer bits")
}
