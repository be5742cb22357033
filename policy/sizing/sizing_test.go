package sizing

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/policytest"
)

func TestBitsFor(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n, target = 2000, 0.003
	for _, kind := range []string{"bloom", "ribbon"} {
		bits, err := BitsFor(kind, n, target)
		require.NoError(t, err)
		fpp := func(bits float64) float64 { return policytest.Must(newPolicy(kind, bits)).FPP(n) }
		require.LessOrEqual(t, fpp(bits), target)
		require.Greater(t, fpp(bits-0.1), target)
	}

	// The least that there is.
	bits, err := BitsFor("ribbon", n, 0.9)
	require.NoError(t, err)
	require.Equal(t, 2.0, bits)
}

func TestBitsForRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	_, err := BitsFor("bloom", 10_000_000, 0.001)
	require.ErrorContains(t, err, "LevelDB's hash has only 32 bits: use ribbon")
	_, err = BitsFor("ribbon", 1000, 1e-30)
	require.ErrorContains(t, err, "because 40 bits per key do not suffice")
	for _, target := range []float64{0, 1, math.NaN()} {
		_, err = BitsFor("ribbon", 1000, target)
		require.ErrorContains(t, err, "above 0 and below 1")
	}
	_, err = BitsFor("ribbon", 0, 0.1)
	require.ErrorContains(t, err, "keys: pass")
	_, err = BitsFor("cuckoo", 1000, 0.1)
	require.ErrorContains(t, err, "write one of bloom, tuned, ribbon")
}

func TestMemory(t *testing.T) {
	p := policytest.Must(policy.NewBloom(10))
	size, err := Memory(p, 2500, 1000)
	require.NoError(t, err)
	require.Equal(t, 2*p.FilterSize(1000)+p.FilterSize(500), size)
	size, err = Memory(p, 2000, 1000)
	require.NoError(t, err)
	require.Equal(t, 2*p.FilterSize(1000), size)
	_, err = Memory(policytest.Must(policy.NewBloom(1000)), math.MaxInt, 1)
	require.Equal(t, math.MaxInt > math.MaxInt32, err != nil)
	_, err = Memory(p, 0, 1000)
	require.ErrorContains(t, err, "keys: pass")
	_, err = Memory(p, 1000, 0)
	require.ErrorContains(t, err, "keys per filter: pass")
	for _, p := range []Policy{nil, new(policy.Bloom), (*policy.Ribbon)(nil)} {
		_, err = Memory(p, 1, 1)
		require.ErrorContains(t, err, "get one from a constructor", "%T", p)
	}
}
