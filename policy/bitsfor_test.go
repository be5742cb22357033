package policy

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/testdata/testkit"
)

func TestBitsFor(t *testing.T) {
	testkit.Large(t)
	const n, target = 2000, 0.003
	for _, kind := range []string{"bloom", "ribbon"} {
		bits, err := BitsFor(kind, n, target)
		require.NoError(t, err)
		fpp := func(bits float64) float64 {
			p := testkit.Must(FromString(fmt.Sprintf("%s:%.1f", kind, bits)))
			return p.FPP(n)
		}
		require.LessOrEqual(t, fpp(bits), target)
		require.Greater(t, fpp(bits-0.1), target)
	}

	// The least that there is.
	bits, err := BitsFor("ribbon", n, 0.9)
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
