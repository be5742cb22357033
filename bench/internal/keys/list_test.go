package keys

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

func newList(n int) (l List) {
	for i := range n {
		l = append(l, bigEndian(nil, 0, uint64(i)*3))
	}
	return l
}

// A range that fits has keys of the list, none twice, of which two thirds are present, at random.
// It may begin anywhere.
func TestList(t *testing.T) {
	rng := policytest.Rand(t, 1)
	l := newList(3000)
	s := l.Shape()
	for _, n := range []int{1, 8, 100, l.Most(0)} {
		for range 300 {
			start := uint64(rng.Int63n(Indexes))
			present, absent := s.Density.Draw(rng.Uint64(), start, n, len(l), nil)
			length := len(present) + len(absent)
			require.LessOrEqual(t, length, len(l))
			deviation := math.Sqrt(0.75 * float64(n))
			require.InDelta(t, 1.5*float64(n), float64(length), 6*deviation+16)
			seen := map[string]bool{}
			for _, key := range append(s.Keys(present, 0), s.Keys(absent, 0)...) {
				seen[string(key)] = true
			}
			require.Len(t, seen, length)
		}
	}
	require.Equal(t, string(l[2]), string(s.Append(nil, 1, 3002)))
	require.Equal(t, string(l[2999]), string(s.Append(nil, 1, Indexes-1)))
}

func TestListFits(t *testing.T) {
	l := newList(3000)
	most := l.Most(500)
	require.NoError(t, l.Fits(most, 500))
	require.ErrorContains(t, l.Fits(most+1, 500), "too few keys (3000) to store ")
	require.InDelta(t, (3000-500)/2, most, 20)
	require.Zero(t, newList(10).Most(0))
	require.EqualError(t, newList(10).Fits(1, 0),
		"too few keys (10) to store 1 of them: pass 34 keys or more")
}
