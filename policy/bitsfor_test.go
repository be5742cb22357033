package policy

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

// With the bits that it returns, the FPP is at most the target, and with a tenth less it is more.
func TestBitsFor(t *testing.T) {
	fpp := func(kind string, n int, bits float64) float64 {
		return testkit.Must(FromString(fmt.Sprintf("%s:%.1f", kind, bits))).FPP(n)
	}
	requireTight := func(kind string, n int, target float64) (bits float64) {
		bits, err := BitsFor(kind, n, target)
		require.NoError(t, err)
		require.LessOrEqual(t, fpp(kind, n, bits), target)
		require.Greater(t, fpp(kind, n, bits-0.1), target)
		return bits
	}
	requireTight("ribbon", 2000, 0.003)
	if !testing.Short() { // these simulate filters
		// The example of its comment: still fewer bits may suffice.
		require.Equal(t, 10.3, requireTight("bloom", 36, 0.00926))
		require.LessOrEqual(t, fpp("bloom", 36, 10.1), 0.00926)
	}

	// The least that there is.
	bits, err := BitsFor("ribbon", 2000, 0.9)
	require.NoError(t, err)
	require.Equal(t, 2.0, bits)
}

func TestBitsForRefuses(t *testing.T) {
	testkit.Large(t)
	_, err := BitsFor("bloom", 10_000_000, 0.001)
	require.ErrorContains(t, err, "LevelDB's hash has only 32 bits")
	_, err = BitsFor("ribbon", 1000, 1e-30)
	require.ErrorContains(t, err, "because 40 bits per key do not suffice")
	for _, target := range []float64{0, 1, math.NaN()} {
		_, err = BitsFor("ribbon", 1000, target)
		require.ErrorContains(t, err, "above 0 and below 1")
	}
	_, err = BitsFor("ribbon", 0, 0.1)
	require.ErrorContains(t, err, "keys: pass 1")
	for _, kind := range []string{"ribbon:3,name=a", "tuned", "cuckoo"} {
		_, err = BitsFor(kind, 1000, 0.5)
		require.ErrorContains(t, err, "is not a kind of filter: pass one of bloom, ribbon")
	}
}
