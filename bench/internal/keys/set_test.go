package keys

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Present, absent and guard keys are all different, and a sample is of the present ones.
func TestSet(t *testing.T) {
	var shapes, densities []string
	for _, s := range Shapes {
		shapes = append(shapes, s.Name)
	}
	for _, d := range Densities {
		densities = append(densities, d.Name)
	}
	all := Sources(shapes, densities)
	require.Len(t, all, 2+8*len(Densities), "random keys and UUIDs are anywhere")
	for _, source := range all {
		t.Run(fmt.Sprintf("%s/%s", source.Shape.Name, source.Density.Name), func(t *testing.T) {
			s := source.Set(1000, 500, 1)
			seen := map[string]string{}
			add := func(sort string, key []byte) {
				require.Empty(t, seen[string(key)], "%s key %x", sort, key)
				seen[string(key)] = sort
			}
			require.Len(t, s.Present, 1000)
			for _, key := range s.Present {
				add("present", key)
			}
			require.LessOrEqual(t, len(s.Between), 500)
			require.NotEmpty(t, s.Between)
			for _, key := range s.Between {
				add("between", key)
			}
			add("guard", s.Guard)
			require.Len(t, s.Sample(10), 10)
			require.Len(t, s.Sample(2000), 1000)
			for _, key := range s.Sample(1000) {
				require.Equal(t, "present", seen[string(key)])
				delete(seen, string(key)) // each comes once
			}
		})
	}
}

// What is stored first must not be looked up first: it is in other levels. And another seed gives
// another order.
func TestOrders(t *testing.T) {
	source := Sources([]string{"decimal"}, []string{"63%"})[0]
	s := source.Set(1000, 10, 1)
	other := source.Set(1000, 10, 2)
	same, sameAsOther := 0, 0
	for i, key := range s.Sample(1000) {
		if string(key) == string(s.Present[i]) {
			same++
		}
		if string(s.Present[i]) == string(other.Present[i]) {
			sameAsOther++
		}
	}
	require.Less(t, same, 20)
	require.Less(t, sameAsOther, 20)
	again := source.Set(1000, 10, 1)
	require.Equal(t, s.Present, again.Present)
	require.Equal(t, s.Sample(10), again.Sample(10))
}
