package rate

import "math/bits"

// simulation returns a sampler. It moves the probes of each hash to every place of a filter that
// has the right remainder: hashes whose d is the same modulo m differ only in their place and in
// where they wrap around at 2^32.
func (b *bloom) simulation() sampler {
	words := int(b.m+63) / 64
	filter := make([]uint64, 2*words+2) // the bits twice, so that no offset wraps around
	group := gcd(b.m, 1<<32-1)
	masks := make([]uint64, group) // masks[i] has the bits that are i modulo group
	for i := range int(min(group, 64)) {
		for bit := i; bit < 64; bit += int(group) {
			masks[i] |= 1 << bit
		}
	}
	scarcity := b.scarcity()
	return func(draw func() uint32, part float64) float64 {
		// A larger group leaves fewer places in each word, and takes less time.
		vectors := int(part*(1<<19)) * (1 + int(min(group, 8))) / max(words, 16)
		perFilter := max(1, min(8, int(b.n)/16, vectors/64))
		// Filters with many more keys than they have room for differ little.
		perFilter = max(perFilter, int(float64(vectors)*b.n*float64(b.k)/(1<<26)))
		var found uint64
		for i := range vectors {
			if i%perFilter == 0 {
				b.simulate(filter)
			}
			found += b.count(filter, masks, draw())
		}
		return scarcity * float64(found) * float64(group) / float64(b.m) / float64(vectors)
	}
}

// simulate builds a filter of random hashes.
func (b *bloom) simulate(filter []uint64) {
	clear(filter)
	for range int(b.n) {
		h := b.rng.Uint32()
		d := delta(h)
		for range b.k {
			place := uint64(h) % b.m
			filter[place/64] |= 1 << (place % 64)
			place += b.m
			filter[place/64] |= 1 << (place % 64)
			h += d
		}
	}
}

// count returns at how many places the filter contains the pattern of h.
func (b *bloom) count(filter, masks []uint64, h uint32) (found uint64) {
	var memory [32]uint64
	offsets := b.probes(memory[:0], h)
	first := offsets[0]
	for i, p := range offsets {
		offsets[i] = (p + b.m - first) % b.m
	}
	group := uint64(len(masks))
	class := first % group
	for at := uint64(0); at < b.m; at += 64 {
		all := masks[class]
		if class += group - 64%group; class >= group {
			class -= group
		}
		if b.m-at < 64 {
			all &= 1<<(b.m-at) - 1
		}
		for _, offset := range offsets {
			p := at + offset
			all &= filter[p/64]>>(p%64) | filter[p/64+1]<<(64-p%64)
			if all == 0 {
				break
			}
		}
		found += uint64(bits.OnesCount64(all))
	}
	return found
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
