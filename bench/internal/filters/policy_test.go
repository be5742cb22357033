package filters

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Names are policy.FromString's, with a plus sign before options, and bits only where they differ.
func TestPolicyOf(t *testing.T) {
	for name, want := range map[string]string{
		"bloom": "bloom:9.5", "bloom:7": "bloom:7", "ribbon": "ribbon:9.5",
		"bloom+tuned": "bloom:9.5,tuned", "bloom:12+tuned": "bloom:12,tuned",
	} {
		p, err := PolicyOf(name, 9.5)
		require.NoError(t, err)
		require.Equal(t, want, p.String())
	}
	require.Equal(t, 12.0, kind(t, "bloom:12+tuned").Bits)
	_, err := FromString("goleveldb:10+nothing", 10)
	require.ErrorContains(t, err, `"nothing" is not an option`)
}
