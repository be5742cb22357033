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

// A filter with the keys that it is sized for, more, and fewer: the textbook is close at this size.
func TestFilled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const capacity = 10_000
	bloom := policytest.Must(policy.NewBloom(10))
	for _, n := range []int{capacity / 2, capacity, capacity * 3 / 2} {
		textbook, err := Textbook(n, 10*capacity, 6)
		require.NoError(t, err)
		rate, err := Filled(bloom, capacity, n)
		require.NoError(t, err)
		require.InEpsilon(t, 1.1*textbook, rate, 0.1)
	}
	rate, err := Filled(bloom, 1000, 1000)
	require.NoError(t, err)
	require.Equal(t, bloom.FPP(1000), rate)
	rate, err = Filled(bloom, 1000, 0)
	require.NoError(t, err)
	require.Zero(t, rate)
	for _, c := range [][2]int{{10, math.MaxInt}, {100_000, math.MaxInt}} {
		rate, err = Filled(bloom, c[0], c[1])
		require.NoError(t, err)
		require.InDelta(t, 1, rate, 1e-6)
	}
	_, err = Filled(policytest.Must(policy.NewRibbon(10)), 10, 10)
	require.ErrorContains(t, err, "no room")
	for _, p := range []policy.Policy{nil, new(policy.Bloom)} {
		_, err = Filled(p, 10, 10)
		require.ErrorContains(t, err, "get one from a constructor", "%T", p)
	}
	_, err = Filled(bloom, 0, 10)
	require.ErrorContains(t, err, "capacity: pass")
	_, err = Filled(bloom, 10, -1)
	require.ErrorContains(t, err, "pass 0 or more")
}

func TestTextbookRefuses(t *testing.T) {
	for _, c := range []struct {
		n, m, k int
		err     string
	}{{0, 1, 1, "keys: pass"}, {1, 0, 1, "bits: pass"}, {1, 1, 0, "probes: pass"}} {
		_, err := Textbook(c.n, c.m, c.k)
		require.ErrorContains(t, err, c.err)
	}
}

// The figures of Textbook's comment, for filters of LevelDB's size and k.
func TestTextbookIsTooLow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		bits  float64
		n, k  int
		times float64
	}{{10, 20, 6, 1.4}, {10, 300_000, 6, 2.4}, {20, 20, 13, 17}} {
		textbook, err := Textbook(c.n, int(c.bits)*c.n, c.k)
		require.NoError(t, err)
		rate := policytest.Must(policy.NewBloom(c.bits)).FPP(c.n)
		require.InEpsilon(t, c.times, rate/textbook, 0.05, "%v bits, %d keys", c.bits, c.n)
	}
}
