// Package testkit has what the tests of all modules share. It is here because tests of every module
// can import it, and because no program takes a package in testdata for one to use.
package testkit

import (
	"flag"
	"math/rand"
	"testing"
)

var large = flag.Bool("large", false,
	"also run what takes long, much memory (6 GiB), or what time and chance decide: .ci/nightly does")

// IsLarge reports whether flag -large is set.
func IsLarge() bool { return *large }

// Large skips the test unless flag -large is set.
func Large(t testing.TB) {
	t.Helper()
	if !*large {
		t.Skip("runs with -large only")
	}
}

// Rand returns a source of random numbers with a fixed seed, which it logs if the test fails.
func Rand(t testing.TB, seed int64) *rand.Rand {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewSource(seed))
}

// Keys returns n different keys of 1 to 40 random bytes. A quarter of them share up to 8 bytes with
// the key before, as keys in a table do. Half of all bytes are above 0x7f, where hashes that take
// bytes for signed differ from LevelDB's.
func Keys(rng *rand.Rand, n int) [][]byte {
	keys := make([][]byte, 0, n)
	seen := make(map[string]bool, n)
	for len(keys) < n {
		key := make([]byte, 1+rng.Intn(40))
		rng.Read(key)
		if len(keys) > 0 && rng.Intn(4) == 0 {
			before := keys[len(keys)-1]
			copy(key, before[:min(8, len(before))])
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// Must returns v, and panics if err is not nil: testkit.Must(policy.NewBloom(10)).
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
