package keys

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func newSet(t *testing.T, shape, density string, n, absent int, seed int64) *Set {
	s, err := NewSet(shapeNamed(t, shape), densityNamed(t, density), n, absent, seed)
	require.NoError(t, err)
	return s
}

// Present, absent and guard keys are all different; keys of ordered shapes are where their names
// say.
func TestSet(t *testing.T) {
	for _, shape := range Shapes {
		for _, density := range shape.Densities(Densities) {
			t.Run(fmt.Sprintf("%s/%s", shape.Name, density.Name), func(t *testing.T) {
				s, err := NewSet(shape, density, 1000, 500, 1)
				require.NoError(t, err)
				seen := map[string]string{}
				add := func(sort string, key []byte) {
					require.Empty(t, seen[string(key)], "%s key %x", sort, key)
					seen[string(key)] = sort
				}
				last := ""
				for i := range s.Len() {
					key := s.AppendPresent(nil, i)
					add("present", key)
					last = max(last, string(key))
				}
				require.LessOrEqual(t, len(s.Between(10_000)), 500)
				for _, key := range s.Between(10_000) {
					add("between", key)
				}
				guard := s.AppendGuard(nil)
				add("guard", guard)
				if shape.Name == "decimal" || shape.Name == "bigendian" {
					for key, sort := range seen {
						if sort == "between" {
							require.Equal(t, density.Between(), key < last)
							require.Less(t, key, string(guard))
						}
					}
				}
				require.Len(t, s.Present(1000), 1000)
				for _, key := range s.Present(1000) {
					require.Equal(t, "present", seen[string(key)])
					delete(seen, string(key)) // each comes once
				}
			})
		}
	}
}

func TestFewKeys(t *testing.T) {
	s := newSet(t, "decimal", "alternating", 3, 9, 1)
	require.Len(t, s.Present(9), 3)
	require.Len(t, s.Between(9), 2)
}

// What is stored first must not be looked up first: it is in other levels. And another seed gives
// another order.
func TestOrders(t *testing.T) {
	s, other := newSet(t, "decimal", "63%", 1000, 10, 1), newSet(t, "decimal", "63%", 1000, 10, 2)
	same, sameAsOther := 0, 0
	for i, key := range s.Present(1000) {
		if string(key) == string(s.AppendPresent(nil, i)) {
			same++
		}
		if string(s.AppendPresent(nil, i)) == string(other.AppendPresent(nil, i)) {
			sameAsOther++
		}
	}
	require.Less(t, same, 20)
	require.Less(t, sameAsOther, 20)
}

func TestRefusedSets(t *testing.T) {
	for _, c := range []struct {
		n              int
		shape, density string
		message        string
	}{
		{0, "decimal", "63%", "0 keys: pass 1"},
		{1<<30 + 1, "decimal", "63%", "keys: pass 1"},
	} {
		_, err := NewSet(shapeNamed(t, c.shape), densityNamed(t, c.density), c.n, 10, 1)
		require.ErrorContains(t, err, c.message)
	}
}

func TestNumbers(t *testing.T) {
	for text, n := range map[string]int{
		"1": 1, "1025": 1025, "10k": 10_000, "1M": 1_000_000, "10M": 10_000_000,
	} {
		got, err := ParseN(text, 10_000_000)
		require.NoError(t, err)
		require.Equal(t, n, got)
		require.Equal(t, text, FormatN(n))
	}
	for _, text := range []string{"", "0", "-1", "k", "1G", "11M", "1.5k", "99999999999999999999"} {
		_, err := ParseN(text, 10_000_000)
		require.ErrorContains(t, err, "pass a number of keys from 1 to 10M")
	}
	require.Equal(t, "1 key", CountN(1))
	require.Equal(t, "10k keys", CountN(10_000))
	n, err := ParseN("11M", 12_000_000)
	require.NoError(t, err)
	require.Equal(t, 11_000_000, n)
}

func TestAppendRandom(t *testing.T) {
	seen := map[string]bool{}
	for _, length := range []int{8, 9, 16, 64} {
		for i := range uint64(1000) {
			key := AppendRandom([]byte("x"), length, i)
			require.Len(t, key, 1+length)
			seen[string(key)] = true
		}
	}
	require.Len(t, seen, 4000)
}
