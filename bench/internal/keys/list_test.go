package keys

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func newList(n int) (l List) {
	for i := range n {
		l = append(l, bigEndian(nil, 0, uint64(i)*3))
	}
	return l
}

// What is drawn is a run of neighbors that begins anywhere, of which two thirds are present, at
// random.
func TestList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := newList(3000)
	for _, n := range []int{1, 8, 100, l.Most()} {
		const draws = 300
		starts, held := map[string]bool{}, 0
		for i := range draws {
			present, absent := l.Source().Draw(rng, i == 0, n, len(l))
			require.Len(t, present, n)
			require.Len(t, absent, (n+1)/2)
			require.True(t, slices.IsSortedFunc(present, bytes.Compare))
			run := slices.SortedFunc(slices.Values(slices.Concat(present, absent)), bytes.Compare)
			at, found := slices.BinarySearchFunc(l, run[0], bytes.Compare)
			require.True(t, found)
			require.Equal(t, [][]byte(l[at:at+len(run)]), run)
			starts[string(run[0])] = true
			if i == 0 {
				require.Zero(t, at)
			}
			if string(present[0]) != string(run[0]) {
				held++
			}
			_, few := l.Source().Draw(rng, true, n, 1)
			require.Len(t, few, 1)
		}
		part := float64((n+1)/2) / float64(withHeldOut(n)) // of runs whose first key is held out
		require.InDelta(t, part*draws, held, 5*math.Sqrt(part*(1-part)*draws))
		if n < l.Most() {
			require.Greater(t, len(starts), draws/2)
		}
	}
}

func TestListFits(t *testing.T) {
	l := newList(3000)
	most := l.Most()
	require.NoError(t, l.Fits(most))
	require.ErrorContains(t, l.Fits(most+1), "too few keys (3000) to store ")
	require.InDelta(t, 3000*2/3, most, 2)
	require.Zero(t, newList(0).Most())
	require.EqualError(t, newList(2).Fits(1),
		"too few keys (2) to store 1 of them: pass 3 keys or more")
}
