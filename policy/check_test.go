package policy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy/policytest"
)

// embedded inherits the methods of the Counted in it, and answers differently.
type embedded struct{ *Counted }

func (embedded) MayContain(filter, key []byte) bool { return false }

func TestCompatible(t *testing.T) {
	bloom, other := policytest.Must(NewBloom(10)), policytest.Must(NewBloom(1.5))
	require.True(t, Compatible(bloom, other), "other bits, the same encoding")
	foreign := absentPolicy{bloom}
	require.False(t, Compatible(bloom, foreign))
	require.False(t, Compatible(foreign, bloom))
	require.True(t, Compatible(foreign, foreign))
	require.True(t, Compatible(Count(bloom), Count(Count(other))))
	require.False(t, Compatible(bloom, embedded{Count(bloom)}), "it answers for itself")
}
