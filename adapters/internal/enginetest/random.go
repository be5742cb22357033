package enginetest

import (
	"flag"
	"math/rand"
	"testing"
	"time"

	"github.com/levelbloom/levelbloom/policy"
)

var (
	seed  = flag.Int64("seed", 1, "seed of the random tests; 0 takes one from the clock")
	large = flag.Bool("large", false,
		"also run what takes long, or what time and chance decide: .ci/nightly does")
)

// Seed returns the seed of random tests: that of flag -seed, or with 0 one from the clock.
func Seed() int64 {
	if *seed != 0 {
		return *seed
	}
	return time.Now().UnixNano()
}

// Large skips the test unless flag -large is set.
func Large(t testing.TB) {
	t.Helper()
	if !*large {
		t.Skip("runs with -large only")
	}
}

// RandomPolicy draws a policy that counts: ribbon, bloom, or bloom with tuning.
func RandomPolicy(rng *rand.Rand, bitsPerKey float64, name string) *policy.Policy {
	kind := Kinds[rng.Intn(len(Kinds))]
	if kind.Name == "bloom" && rng.Intn(2) == 0 {
		return kind.MustNew(bitsPerKey, name, policy.WithTuning())
	}
	return kind.MustNew(bitsPerKey, name)
}

// RandomSetting draws a setting for a variant: with the engine's own filter or without, and with up
// to three policies of any kind, which may share names.
func RandomSetting(rng *rand.Rand, variant int) Setting {
	s := Setting{Variant: variant, Builtin: rng.Intn(3) == 0, Large: rng.Intn(2) == 0}
	for range []int{0, 1, 1, 2, 3}[rng.Intn(5)] { // policies, the last of which builds
		s.Policies = append(s.Policies,
			RandomPolicy(rng, 2+20*rng.Float64(), names[rng.Intn(len(names))]))
	}
	return s
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
