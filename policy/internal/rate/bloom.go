// Package rate computes the false-positive probabilities (FPP) of filters in LevelDB's encoding,
// for keys whose hashes are like random numbers: [Bloom] of a filter of n keys, [FromBits] of a
// filter at hand, [Textbook] of one with random, independent probes. (That of a ribbon filter
// follows from its layout alone: ribbon/info.go has it.)
//
// Each function is deterministic: where it samples, the seed is fixed.
package rate

import (
	"math/bits"
	"math/rand/v2"
)

// smallBits is the number of bits up to which Bloom simulates filters.
const smallBits = 1 << 17

// Bloom returns the FPP of a filter in LevelDB's encoding with n different keys. size is the
// number of its bytes without k, and k is 1 to 30.
//
// The probes of a key are an arithmetic progression h, h+d, h+2d, ... modulo 2^32, then modulo the
// number of bits, m. d is h rotated, and that is 2^15*h modulo 2^32-1 = 3 * 5 * 17 * 257 * 65537.
// So they are far from random in four ways, and the textbook's formula has none of them:
//
//   - Probes of one key coincide, if s*d = w*2^32 modulo m for some small s and w.
//   - Two keys with the same d modulo m share most of their probes.
//   - If 3 or 5 divides m, some of the probes prefer some remainders.
//   - Probe 2 takes only 196,606 values: if h is a*2^17 + b, the probe is (2a + b) * 65537. So some
//     bits of a large filter are much more likely to be set than others. With 100,000 keys, the
//     bit of a random probe 2 is set with a probability of 0.7 and with a million keys of 0.99:
//     one of the k probes is wasted.
//
// The first two matter in small filters and the last one in large ones. Small filters are
// simulated: sampled filters, asked at all places at once. In large ones the bits of a sampled
// absent key are set independently of each other, each with the probability of its place.
func Bloom(size uint64, k, n int) float64 {
	if n <= 0 {
		return 0
	}
	if full(size, n) {
		return 1
	}
	b := &bloom{
		m: 8 * size, k: k, n: float64(n), rng: rand.New(rand.NewPCG(uint64(n), size<<8|uint64(k))),
	}
	var sample sampler
	if b.m <= smallBits {
		sample = b.simulation()
	} else {
		b.prepare()
		sample = b.place
	}
	return withSameHash(b.n, min(1, b.stratified(sample)))
}

// full reports whether n keys almost surely set every bit of size bytes, even if each key sets only
// one: e^-32 of the bits are left. So no sum and no simulation is endless.
func full(size uint64, n int) bool { return float64(n) >= 32*8*float64(size) }

type bloom struct {
	m   uint64 // bits
	k   int
	n   float64
	rng *rand.Rand

	// of a large filter
	classes []float64          // expected probes of all keys on a bit, by its remainder
	scarce  map[uint64]float64 // and by probe 2, where there are any
	near    [nearBits / 64]uint64
}

func delta(h uint32) uint32 { return bits.RotateLeft32(h, -17) }

// probes appends the different places of the probes of h to dst, in their order.
func (b *bloom) probes(dst []uint64, h uint32) []uint64 {
	d := delta(h)
next:
	for range b.k {
		place := uint64(h) % b.m
		h += d
		for _, p := range dst {
			if p == place {
				continue next
			}
		}
		dst = append(dst, place)
	}
	return dst
}
