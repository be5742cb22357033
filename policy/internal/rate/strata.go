package rate

import (
	"math/bits"
	"slices"
)

// degenerate returns the remainders of d with which probes of one key coincide, ascending: those
// with s*d = w*2^32 modulo m. If m is so large that they do not matter, it returns none.
func (b *bloom) degenerate() (all []uint64) {
	if b.m > 1<<26 {
		return nil
	}
	wrap := uint64(1<<32) % b.m
	for s := uint64(1); s < uint64(b.k); s++ {
		for w := range s + 1 {
			for t := range s {
				if x := w*wrap%b.m + t*b.m; x%s == 0 {
					all = append(all, x/s%b.m)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A sampler returns the mean over some hashes that it draws. part is the part of its usual number.
type sampler func(draw func() uint32, part float64) float64

// stratified returns the mean over random hashes. Those with a special d are few and weigh much, so
// they are sampled separately.
func (b *bloom) stratified(sample sampler) float64 {
	special := b.degenerate()
	part := float64(len(special)) / float64(b.m)
	drawSpecial := func() uint32 {
		d := special[0]
		special = append(special[1:], d)
		d += b.m * b.rng.Uint64N((1<<32-1-d)/b.m+1)
		return bits.RotateLeft32(uint32(d), 17)
	}
	switch part {
	case 0:
		return sample(b.rng.Uint32, 1)
	case 1:
		return sample(drawSpecial, 2)
	}
	ordinary := sample(func() uint32 {
		for {
			h := b.rng.Uint32()
			if _, found := slices.BinarySearch(special, uint64(delta(h))%b.m); !found {
				return h
			}
		}
	}, 1)
	return (1-part)*ordinary + part*sample(drawSpecial, 0.5)
}
