package keys

import (
	"fmt"
	"math/rand/v2"
)

// A List is a user's own keys, sorted, none twice.
type List [][]byte

// heldOut is the density of a list. So absent keys are as real as present ones, and lie between
// them. The part that is present is about that of db_bench's fillrandom.
var heldOut = Density{Name: "two thirds", Doc: "a random third of the keys stays out of the " +
	"filters, and is looked up as absent", part: 2.0 / 3}

// Source returns the keys as a source.
func (l List) Source() Source {
	last := len(l) - 1
	return Source{"own", heldOut, l.draw, func() []byte { return l[last] }}
}

// draw takes a run of neighbors, of which a random third is absent.
func (l List) draw(rng *rand.Rand, first bool, n, limit int) (present, absent [][]byte) {
	run := l[:withHeldOut(n)]
	if beyond := len(l) - len(run); !first {
		at := rng.IntN(beyond + 1)
		run = l[at : at+len(run)]
	}
	for i, key := range run {
		if rng.IntN(len(run)-i) < n-len(present) { // each choice of n is equally likely
			present = append(present, key)
		} else {
			absent = append(absent, key)
		}
	}
	rng.Shuffle(len(absent), func(i, j int) { absent[i], absent[j] = absent[j], absent[i] })
	return present, absent[:min(limit, len(absent))]
}

// withHeldOut returns how many keys a run of n present keys has.
func withHeldOut(n int) int { return n + (n+1)/2 }

// Fits returns an error that says how many keys are needed if the list is too short for n present
// keys, with absent ones between them, and a guard.
func (l List) Fits(n int) error {
	if need := withHeldOut(n) + 1; len(l) < need {
		return fmt.Errorf("too few keys (%d) to store %s of them: pass %d keys or more",
			len(l), FormatN(n), need)
	}
	return nil
}

// Most returns the largest n that fits, or 0.
func (l List) Most() int { return max(0, (len(l)-1)*2/3) }
