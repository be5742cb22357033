package rate

import "math"

// prepare sets the expected probes on each bit.
//
// Probe j of h is (1 + j*2^15)*h modulo 3, 5 or 17, less 1 for every time that it wrapped around.
// If the factor is 0, only the latter is left, and the remainders are not equally likely.
func (b *bloom) prepare() {
	group := gcd(b.m, 3*5*17)
	b.classes = make([]float64, group)
	const hashes = 1 << 16
	each := b.n * float64(group) / float64(b.m) / hashes
	for range hashes {
		h := b.rng.Uint32()
		d := delta(h)
		for j := range b.k {
			if j != 2 {
				b.classes[uint64(h)%b.m%group] += each
			}
			h += d
		}
	}
	b.scarce = make(map[uint64]float64)
	if b.k > 2 {
		forScarce(func(value uint32, part float64) {
			place := uint64(value) % b.m
			b.scarce[place] += b.n * part
			b.near[place%nearBits/64] |= 1 << (place % 64)
		})
	}
}

// nearBits is the number of bits that save most of the lookups in b.scarce.
const nearBits = 1 << 22

// byScarce returns the expected probes 2 of all keys on a bit.
func (b *bloom) byScarce(place uint64) float64 {
	if b.near[place%nearBits/64]>>(place%64)&1 == 0 {
		return 0
	}
	return b.scarce[place]
}

// forScarce calls f for each value of probe 2, with the part of all hashes that have it.
func forScarce(f func(value uint32, part float64)) {
	const as, bs = 1 << 15, 1 << 17
	for x := range uint32(bs + 2*as - 1) {
		// a is at most x/2 and as-1, and at least (x - (bs-1))/2
		first := uint32(0)
		if x > bs-1 {
			first = (x - (bs - 1) + 1) / 2
		}
		if last := min(x/2, as-1); first <= last {
			f(x*(1<<16+1), float64(last-first+1)/(1<<32))
		}
	}
}

// scarcity returns how many times as likely the bit of a random probe 2 is to be set as other bits.
func (b *bloom) scarcity() float64 {
	if b.k <= 2 {
		return 1
	}
	part := make([]float64, b.m)
	forScarce(func(value uint32, p float64) { part[uint64(value)%b.m] += p })
	others := float64(b.k-1) / float64(b.m)
	var set, all float64
	for _, p := range part {
		f := -math.Expm1(-b.n * (others + p))
		set += p * f
		all += f / float64(b.m)
	}
	return set / all
}

// place is a sampler. Probe 2 always has one of its places. If probe 1 has one too, other probes
// often do, as the places are evenly spaced: such hashes are few and weigh much. Of all others,
// only some are evaluated.
func (b *bloom) place(draw func() uint32, part float64) float64 {
	const some = 8
	share := float64(len(b.scarce)) / float64(b.m)
	draws := int(part*(1<<16)/max(share, 1.0/some)) / some * some
	sum := 0.0
	for i := range draws {
		h := draw()
		if second := uint64(h+delta(h)) % b.m; b.byScarce(second) > 0 {
			sum += b.allSet(h)
		} else if i%some == 0 {
			sum += some * b.allSet(h)
		}
	}
	return sum / float64(draws)
}

// allSet returns the probability that all bits of h are set.
func (b *bloom) allSet(h uint32) float64 {
	var memory [32]uint64
	all := 1.0
	for _, p := range b.probes(memory[:0], h) {
		all *= -math.Expm1(-b.classes[p%uint64(len(b.classes))] - b.byScarce(p))
	}
	return all
}
