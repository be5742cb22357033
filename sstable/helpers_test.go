package sstable_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/levelbloom/levelbloom/policy"
)

// seeded returns random numbers from a fixed seed, which it prints if the test fails.
func seeded(t testing.TB, seed int64) *rand.Rand {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}

func bloom(t testing.TB, bitsPerKey float64, opts ...policy.Option) *policy.Bloom {
	p, err := policy.NewBloom(bitsPerKey, opts...)
	require.NoError(t, err)
	return p
}
