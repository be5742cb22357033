package keys

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Present, absent and guard keys are all different; keys of ordered shapes are where their names
// say.
func TestSet(t *testing.T) {
	for _, shape := range append(Shapes, newList(3000).Shape()) {
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

// What is stored first must not be looked up first: it is in other levels. And another seed gives
// another order.
func TestOrders(t *testing.T) {
	s, err := NewSet(shapeNamed(t, "decimal"), Densities[1], 1000, 10, 1)
	require.NoError(t, err)
	other, err := NewSet(shapeNamed(t, "decimal"), Densities[1], 1000, 10, 2)
	require.NoError(t, err)
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
	for _, n := range []int{0, 1<<30 + 1} {
		_, err := NewSet(Shapes[0], Anywhere, n, 10, 1)
		require.ErrorContains(t, err, "keys: pass 1")
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{1: "1 key", 1025: "1025 keys", 10_000: "10k keys",
		10_000_000: "10M keys"} {
		require.Equal(t, want, CountN(n))
	}
}
