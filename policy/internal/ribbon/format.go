package ribbon

import "math"

// Encoding is the last byte of every filter.
const Encoding = 0x72 // 'r'

// The format. FORMAT.md has the same in words.
const (
	windowBlocks = 8 // of 8 slots
	windowSlots  = 8 * windowBlocks

	// padding is how many blocks the range of drawn starts is longer at either end. With 1, 37 % of
	// eliminations of 700 keys succeed, with any turn, instead of 67 %; with 4, 68 % (TestWorth).
	padding = 3

	fingerprintBits = 41 // for 40 columns and one that not all slots have
	maxColumns      = fingerprintBits - 1
	turnSlots       = 4 // the first ones of a shard
	turns           = 8
	turnBits        = turns + turnSlots - 1
	seeds           = 8 * turns // a seed is 8 * (number of the multiplier) + turn
	bloomSeed       = seeds - 1 // of a shard without a solution, see bloom.go

	soloTrailer = 4 // bytes: slots and seed (2), check, encoding
	trailer     = 8 // bytes: number of shards (4), columns (2), check, encoding
	indexEntry  = 4 // bytes: first block and seed of a shard

	minKeys    = 8 // and slots of a shard
	minPayload = 8 // bytes: then all loads of 8 bytes are in the filter
)

// What a writer chooses. Readers need soloKeys < 1024.
const (
	maxKeys      = 1 << 28
	soloKeys     = 700           // a filter of no more keys is one shard
	shardKeys    = 500           // in larger ones, on average
	maxShardKeys = 1000          // of a shard with a solution
	solverSeeds  = seeds - turns // all but those of bloomSeed's multiplier
)

// Size returns the number of bytes of a filter of n keys, each counted as often as it was added.
// bitsPerKey is 2 to 40. If ok is false, keys or bytes are too few, or keys too many.
func Size(n int, bitsPerKey float64) (size int, ok bool) {
	if n < minKeys || n > maxKeys {
		return 0, false
	}
	payload := int((uint64(math.Ceil(float64(n)*bitsPerKey)) + 7) / 8)
	if n > soloKeys {
		return payload + trailer, true
	}
	if a := areasOf(payload, n); a.wide < windowBlocks { // no window would fit in the last column
		payload = (a.columns*n + 7) / 8
	}
	return payload + soloTrailer, payload >= minPayload
}

// shardsFor returns the number of shards of a filter of n keys.
func shardsFor(n int) int {
	if n <= soloKeys {
		return 1
	}
	return max(2, (n+shardKeys/2)/shardKeys)
}

// areas says how the bytes of a shard are divided. The package comment has a drawing.
type areas struct {
	columns int // that all slots have: groups of 8, then single ones
	left    int // slots of the last block if it is not whole, 0 to 7
	wide    int // bytes of one more column: as many first blocks have it
}

func areasOf(size, slots int) areas {
	a := areas{columns: int(8 * uint64(size) / uint64(slots)), left: slots % 8}
	single := a.columns % 8
	rest := ((single+1)*a.left + 7) / 8 // as fulfillsColumns has it
	a.wide = max(0, size-a.columns/8*slots-single*(slots/8)-rest)
	return a
}

// shardOf returns the number of a key's shard.
func shardOf(hash, shards uint64) uint64 { return uint64(uint32(hash)) * shards >> 32 }

// offset returns where block b begins in the payload of a filter of many shards, if each block has
// the given columns, and the first wide blocks one more. It has no branches.
func offset(b, columns, wide uint64) uint64 {
	behind := b - wide // negative if b is not behind the wide ones
	return columns*b + wide + behind&uint64(int64(behind)>>63)
}

// lengthCheck is what the last 8 bytes of a filter add up to (XOR).
func lengthCheck(filter []byte) byte { return byte(uint32(len(filter)) * 0x9e3779b1 >> 24) }

// sum8 adds up the bytes of x (XOR).
func sum8(x uint64) byte {
	x ^= x >> 32
	x ^= x >> 16
	return byte(x ^ x>>8)
}
