package analysis

import (
	"math/rand/v2"
	"slices"
)

// maxSampledLen bounds the keys in samples, and with them the memory. Longer keys are left out.
const maxSampledLen = 512

// A reservoir keeps a uniform random sample of what it is offered (Vitter, "Random Sampling with a
// Reservoir", 1985, algorithm R).
type reservoir[T any] struct {
	rng     *rand.Rand
	limit   int // of the sample
	offered uint64
	sample  []T
}

// offer takes what clone returns into the sample, or not.
func (r *reservoir[T]) offer(clone func() T) {
	r.offered++
	if len(r.sample) < r.limit {
		r.sample = append(r.sample, clone())
	} else if i := r.rng.Uint64N(r.offered); i < uint64(len(r.sample)) {
		r.sample[i] = clone()
	}
}

// neighbors are two keys of the table, low < high, that follow each other.
type neighbors struct{ low, high []byte }

func (n neighbors) clone() neighbors { return neighbors{slices.Clone(n.low), slices.Clone(n.high)} }

// adjacent reports whether no byte string of their length lies between n, that is, high = low + 1
// as a number. Such neighbors are not worth a place in the sample.
func (n neighbors) adjacent() bool {
	if len(n.low) != len(n.high) {
		return false
	}
	for i := len(n.low) - 1; i >= 0; i-- {
		switch {
		case n.low[i] == 0xff && n.high[i] == 0: // a carry
		case n.high[i] == n.low[i]+1 && n.low[i] != 0xff:
			return slices.Equal(n.low[:i], n.high[:i])
		default:
			return false
		}
	}
	return false
}
