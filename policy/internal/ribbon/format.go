package ribbon

import (
	"math"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// Encoding is the last byte of every filter.
const Encoding = 0x73 // 's'

// The format, as in FORMAT.md.
const (
	spanOctets = 8
	spanSlots  = 8 * spanOctets

	// padding widens the range of d by this many octets at each end. Of eliminations of 700 keys,
	// 60 % succeed with 2, 67 % with 3, and 64 % with 4 (TestWorth).
	padding = 3

	// fingerprintBits is what 12 bits of d and variantBits leave of 64: enough for 40 columns and
	// the short one.
	fingerprintBits = 41
	maxColumns      = fingerprintBits - 1
	variantSlots    = 4 // the first ones of a shard
	variants        = 8
	variantBits     = variants + variantSlots - 1
	seeds           = 8 * variants // a seed is 8 * (number of the multiplier) + variant
	bloomSeed       = seeds - 1    // of a shard without a solution (bloom.go)

	soloTrailer = 4 // bytes: slots and seed (2), check, encoding
	trailer     = 8 // bytes: number of shards (4), columns (2), check, encoding
	indexEntry  = 4 // bytes: first octet and seed of a shard

	// The 2 bytes are slots + slotsRange*seed, or slotsRange*columns.
	slotsRange = 1024

	minSlots   = 8 // of a shard
	minPayload = 8 // bytes, which keeps all loads of 8 bytes inside the filter
)

// What builders choose. Readers only need soloKeys < slotsRange.
const (
	maxKeys      = 1 << 28
	soloKeys     = 700              // a filter of no more keys is one shard
	shardKeys    = 500              // in larger ones, on average
	maxShardKeys = 1000             // of a shard with a solution
	solverSeeds  = seeds - variants // of all multipliers but bloomSeed's
)

// Size returns the number of bytes of a filter of n keys, including repeated ones.
// REQUIRES: n is 1 or more, and bitsPerKey is 2 to 40.
func Size(n int, bitsPerKey float64) int {
	if n > maxKeys {
		return len(builder.Replacement)
	}
	slots := max(minSlots, n)
	payload := int((uint64(math.Ceil(float64(slots)*bitsPerKey)) + 7) / 8)
	if n > soloKeys {
		return payload + trailer
	}
	if l := layoutOf(payload, slots); l.short < spanOctets {
		// No span fits in the short column: leave its bytes out.
		payload = max(minPayload, (l.columns*slots+7)/8)
	}
	return payload + soloTrailer
}

// shardsFor returns the number of shards of a filter of n keys.
func shardsFor(n int) int {
	if n <= soloKeys {
		return 1
	}
	return max(2, (n+shardKeys/2)/shardKeys)
}

// A layout describes how the bytes of a shard are divided, as drawn in the package comment.
type layout struct {
	columns   int // that all slots have: groups of 8, then single ones
	remaining int // slots after the last whole octet, 0 to 7
	short     int // bytes of the short column, one for each of the first octets
}

// layoutOf returns the layout of a shard of that many bytes and slots. It leaves room for the bits
// of the remaining slots in the short column too. No key needs them, but the reader of single
// columns does not know which one is short.
func layoutOf(size, slots int) layout {
	l := layout{columns: int(8 * uint64(size) / uint64(slots)), remaining: slots % 8}
	single := l.columns % 8
	rest := ((single+1)*l.remaining + 7) / 8
	l.short = max(0, size-l.columns/8*slots-single*(slots/8)-rest)
	return l
}

// shardOf returns the number of a key's shard.
func shardOf(hash, shards uint64) uint64 { return uint64(uint32(hash)) * shards >> 32 }

// offset returns where an octet begins in the payload of a filter of many shards, without branches:
// columns*octet + min(octet, short), as the first short octets have one column more. short may
// exceed the number of all octets, if the bytes before the index belong to none. The index begins
// at columns*octets + short; the result is at most that for any octet up to the number of all.
func offset(octet, columns, short uint64) uint64 {
	after := octet - short // negative, as an int64, if the octet has the short column
	return columns*octet + short + after&uint64(int64(after)>>63)
}

// lengthCheck returns what the last 8 bytes of a filter add up to. Lengths that differ by less than
// 144 have different checks.
func lengthCheck(filter []byte) byte { return byte(uint32(len(filter)) * 0x9e3779b1 >> 24) }

// sum8 adds up the bytes of x.
func sum8(x uint64) byte {
	x ^= x >> 32
	x ^= x >> 16
	return byte(x ^ x>>8)
}
