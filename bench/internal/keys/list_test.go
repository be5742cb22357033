package keys

import (
	"math"
	"slices"
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
			r := &Range{Density: s.Density, Seed: rng.Uint64(), Start: start, N: n}
			present := slices.Collect(r.Present())
			require.Len(t, present, n)
			length := int(r.End - r.Start)
			require.LessOrEqual(t, length, len(l))
			deviation := math.Sqrt(float64(n)/3) * 1.5
			require.InDelta(t, 1.5*float64(n), float64(length), 6*deviation+16)
			seen := map[string]bool{}
			absent := slices.Collect(r.Absent(len(l), nil))
			require.Len(t, absent, length-n)
			for _, key := range append(s.Keys(slices.Values(present), 0),
				s.Keys(slices.Values(absent), 0)...) {
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
	require.InDelta(t, (3000-500)*2/3, most, 150)
	require.Zero(t, newList(10).Most(0))
	require.EqualError(t, newList(10).Fits(1, 0),
		"too few keys (10) to store 1 of them: pass 22 keys or more")
}

// The keys of a set that fits are different ones: present, between and the guard.
func TestListSet(t *testing.T) {
	l := newList(3000)
	for seed := range int64(20) {
		set, err := NewSet(l.Shape(), l.Shape().Density, l.Most(1), 1e6, seed)
		require.NoError(t, err)
		n := set.Len()
		require.InDelta(t, n/2, len(set.between), 6*math.Sqrt(float64(n)))
		all := append(set.Present(n), set.Between(len(set.between))...)
		all = append(all, set.AppendGuard(nil))
		seen := map[string]bool{}
		for _, key := range all {
			seen[string(key)] = true
		}
		require.Len(t, seen, len(all), "seed %d", seed)
	}
}
