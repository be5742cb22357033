package enginetest

import (
	"flag"
	"time"
)

var seed = flag.Int64("seed", 1, "seed of the random tests; 0 takes one from the clock")

// Seed returns the seed of random tests: that of flag -seed, or with 0 one from the clock.
func Seed() int64 {
	if *seed != 0 {
		return *seed
	}
	return time.Now().UnixNano()
}
