package policytest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysDiffer(t *testing.T) {
	const n = 20_000
	seen := map[string]bool{}
	for _, key := range append(Keys(Rand(t, 1), n), AbsentKeys(n)...) {
		seen[string(key)] = true
	}
	require.Len(t, seen, 2*n)
	require.Equal(t, Keys(Rand(t, 2), 100), Keys(Rand(t, 2), 100), "one seed, one sequence")
}

func TestMust(t *testing.T) {
	require.Equal(t, 3, Must(3, nil))
	require.Panics(t, func() { Must(3, errors.New("refused")) })
}
