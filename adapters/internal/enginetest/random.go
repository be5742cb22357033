package enginetest

import (
	"flag"
	"math/rand"
	"time"

	"github.com/levelbloom/levelbloom/policy"
)

var seed = flag.Int64("seed", 1, "seed of the random tests; 0 takes one from the clock")

// Seed returns the seed of random tests: that of flag -seed, or with 0 one from the clock.
func Seed() int64 {
	if *seed != 0 {
		return *seed
	}
	return time.Now().UnixNano()
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
