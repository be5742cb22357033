package ribbon

import "math/bits"

// A shard without a solution is a Bloom filter in the same bytes. It has at least as many slots as
// keys, and a key sets 11/16 of the bits per slot, rounded. Even chosen keys therefore set at most
// 11/16 of all bits, give or take half a bit per slot.

// bloomProbes returns how many bits a key sets: the bits per slot times 11/16, about ln 2, rounded.
func bloomProbes(size, slots int) int {
	return int((11*uint64(size) + uint64(slots)) / (2 * uint64(slots)))
}

// setBloom adds keys to a shard, whose bytes are 0.
func setBloom(shard []byte, slots int, hashes []uint64) {
	for _, hash := range hashes {
		step, at := draw(hash, multiplier(bloomSeed))
		for range bloomProbes(len(shard), slots) {
			bit, _ := bits.Mul64(at, 8*uint64(len(shard)))
			shard[bit/8] |= 1 << (bit % 8)
			at += step
		}
	}
}

// bloomContains reports whether a key may be in a shard that is a Bloom filter.
func bloomContains(shard []byte, slots uint, hash uint64) bool {
	step, at := draw(hash, multiplier(bloomSeed))
	for range bloomProbes(len(shard), int(slots)) {
		bit, _ := bits.Mul64(at, 8*uint64(len(shard)))
		if shard[bit/8]>>(bit%8)&1 == 0 {
			return false
		}
		at += step
	}
	return true
}
