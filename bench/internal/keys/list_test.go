package keys

import (
	"bytes"
	"math"
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

// Present and absent keys are the first ones, of which two thirds are present, at random.
func TestList(t *testing.T) {
	l := newList(3000)
	for _, n := range []int{1, 8, 100, l.Most()} {
		const draws = 300
		held := 0
		for seed := range int64(draws) {
			s := l.Set(n, len(l), seed)
			require.Len(t, s.Present, n)
			require.Len(t, s.Between, (n+1)/2)
			run := slices.SortedFunc(slices.Values(slices.Concat(s.Present, s.Between)), bytes.Compare)
			require.Equal(t, [][]byte(l[:len(run)]), run)
			require.Greater(t, string(s.Guard), string(run[len(run)-1]))
			if slices.ContainsFunc(s.Between, func(key []byte) bool { return bytes.Equal(key, l[0]) }) {
				held++
			}
			require.Len(t, l.Set(n, 1, seed).Between, 1)
		}
		part := float64((n+1)/2) / float64(withHeldOut(n)) // of runs whose first key is held out
		require.InDelta(t, part*draws, held, 5*math.Sqrt(part*(1-part)*draws))
	}
	for n, most := range map[int]int{0: 0, 2: 0, 3: 1, 4: 2, 3000: 1999} {
		require.Equal(t, most, newList(n).Most())
		require.LessOrEqual(t, withHeldOut(most)+min(1, n), max(1, n))
	}
}
