package analysis

import (
	"math/rand/v2"
	"slices"
)

// maxSampleBytes bounds the bytes that a reservoir keeps.
const maxSampleBytes = 32 << 20

// sampled is what a reservoir can keep.
type sampled[T any] interface {
	size() int // bytes of memory
	clone() T
}

var (
	_ sampled[sampledKey] = sampledKey{}
	_ sampled[neighbours] = neighbours{}
	_ sampled[question]   = question{}
)

// A reservoir keeps a uniform random sample of what it is offered (Vitter, "Random Sampling with a Reservoir", 1985,
// algorithm R).
type reservoir[T sampled[T]] struct {
	rng     *rand.Rand
	limit   int // of the sample; halved whenever the sample takes more than maxSampleBytes
	offered uint64
	bytes   int
	sample  []T
}

// offer takes a clone of x into the sample, or not.
func (r *reservoir[T]) offer(x T) {
	r.offered++
	switch {
	case len(r.sample) < r.limit:
		r.sample = append(r.sample, x.clone())
	default:
		i := r.rng.Uint64N(r.offered)
		if i >= uint64(len(r.sample)) {
			return
		}
		r.bytes -= r.sample[i].size()
		r.sample[i] = x.clone()
	}
	r.bytes += x.size()
	for r.bytes > maxSampleBytes && len(r.sample) > 1 {
		r.halve()
	}
}

// halve drops a random half. What is left is a uniform sample too, and stays one.
func (r *reservoir[T]) halve() {
	r.rng.Shuffle(len(r.sample), func(i, j int) { r.sample[i], r.sample[j] = r.sample[j], r.sample[i] })
	r.limit = len(r.sample) / 2
	clear(r.sample[r.limit:])
	r.sample = r.sample[:r.limit]
	r.bytes = 0
	for _, x := range r.sample {
		r.bytes += x.size()
	}
}

// sampledKey is a key of the table.
type sampledKey []byte

func (k sampledKey) size() int         { return 24 + len(k) }
func (k sampledKey) clone() sampledKey { return slices.Clone(k) }

// neighbours are two keys of the table, low < high, that follow each other.
type neighbours struct{ low, high []byte }

func (n neighbours) size() int         { return 48 + len(n.low) + len(n.high) }
func (n neighbours) clone() neighbours { return neighbours{slices.Clone(n.low), slices.Clone(n.high)} }

// adjacent reports whether no byte string of their length lies between n, that is, high = low + 1 as a number. Such
// neighbours are not worth a place in the sample.
func (n neighbours) adjacent() bool {
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

// A question is an absent key, and the filter that was asked for it.
type question struct {
	filter int
	key    []byte
}

func (q question) size() int       { return 32 + len(q.key) }
func (q question) clone() question { return question{q.filter, slices.Clone(q.key)} }
