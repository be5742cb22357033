package ribbon

import (
	"encoding/binary"
	"math/bits"
)

// Contains reports whether the key with this hash may be in the filter. It accepts any bytes, and
// returns true if they are malformed. The caller has compared the last byte with Encoding.
func Contains(filter []byte, hash uint64) bool {
	n := uint(len(filter))
	if n < minPayload+soloTrailer {
		return true
	}
	end := load8(filter, n-trailer)
	if sum8(end) != lengthCheck(filter) {
		return true
	}
	slots, seed := uint(end>>32%slotsRange), end>>32/slotsRange%seeds
	if slots == 0 {
		shard, slots, seed, ok := locate(filter, end, shardOf(hash, end%(1<<32)))
		return !ok || satisfies(shard, slots, seed, hash)
	}
	size := n - soloTrailer
	tooLarge := ((maxColumns+1)*slots + 7) / 8 // 41 columns
	return slots < minSlots || size >= tooLarge || satisfies(filter[:size:size], slots, seed, hash)
}

// locate returns shard i of a filter of at least 12 bytes, of which the last 8 are end. If ok is
// false, all keys of the shard may be in it. A count of 0 shards fails here too: entry 0 of the
// index is then the terminator, so next is 0 and first + 8 > next.
func locate(filter []byte, end, i uint64) (shard []byte, slots uint, seed uint64, ok bool) {
	n := uint64(len(filter))
	index := n - trailer - indexEntry*(end%(1<<32)+1)
	columns := end >> 32 / slotsRange % 64
	octets := load8(filter, uint(n-trailer-indexEntry)) % (1 << 32) / seeds
	short := index - columns*octets
	if index > n || short > index || columns > maxColumns {
		return nil, 0, 0, false
	}
	pair := load8(filter, uint(index+indexEntry*i))
	first, next := pair%(1<<32)/seeds, pair>>32/seeds
	if first+spanOctets > next || next > octets {
		return nil, 0, 0, false
	}
	from, to := offset(first, columns, short), offset(next, columns, short)
	return filter[from:to:to], uint(8 * (next - first)), pair % seeds, true
}

// satisfies reports whether a shard satisfies a key's equation in all columns that are stored for
// the whole span. If the shard is a Bloom filter, it reports whether all bits of the key are set.
func satisfies(shard []byte, slots uint, seed, hash uint64) bool {
	if seed == bloomSeed {
		return bloomContains(shard, slots, hash)
	}
	coeffs, fp := draw(hash, multiplier(seed))
	start, varies := place(fp, slots)
	cut := beyond(start, slots)
	coeffs = coeffs>>cut ^ varied(fp, seed)&varies
	at := uint(0)
	for ; at+slots <= uint(len(shard)); at += slots {
		if cut == 0 {
			if parities(shard, at+8*start, coeffs) != byte(fp) {
				return false
			}
		} else if paritiesAtEnd(shard, at+8*start, at+slots, coeffs) != byte(fp) {
			return false
		}
		fp >>= 8
	}
	if cut == 0 {
		return satisfiesColumns(shard, slots, at+start, coeffs, fp)
	}
	return satisfiesColumnsAtEnd(shard, slots, start, at, coeffs, fp)
}

// parities adds up the slots whose coefficients are 1, in each of the 8 columns of a group. The
// span begins at byte at.
func parities(shard []byte, at uint, coeffs uint64) byte {
	b := shard[at : at+spanSlots : at+spanSlots]
	s01 := load8(b, 0)&spread(coeffs) ^ load8(b, 8)&spread(coeffs>>8)
	s23 := load8(b, 16)&spread(coeffs>>16) ^ load8(b, 24)&spread(coeffs>>24)
	s45 := load8(b, 32)&spread(coeffs>>32) ^ load8(b, 40)&spread(coeffs>>40)
	s67 := load8(b, 48)&spread(coeffs>>48) ^ load8(b, 56)&spread(coeffs>>56)
	return fold((s01 ^ s23) ^ (s45 ^ s67))
}

// satisfiesColumns checks the columns after the groups; in the first, the span begins at byte at.
//
// The shard ends with the bits of the remaining slots, which take rest/8 bytes for the columns up
// to the current one: (remaining*(i+1) + 7)/8 bytes for i+1 columns. In a column that all octets
// have, spans end before these bytes (layoutOf). In the short column, a span ends before them if
// and only if it lies within the column. The loop ends after the short column: as that has fewer
// than slots/8 bytes, every span of another column would reach into the bytes at the end.
func satisfiesColumns(shard []byte, slots, at uint, coeffs, fp uint64) bool {
	remaining := slots % 8
	for rest := remaining + 7; at+8 <= uint(len(shard))-rest/8; rest += remaining {
		if (uint64(bits.OnesCount64(load8(shard, at)&coeffs))^fp)&1 != 0 {
			return false
		}
		fp >>= 1
		at += slots / 8
	}
	return true
}

// paritiesAtEnd is parities for a span that the end of the table cuts off. It begins at byte at of
// a group that ends at byte end, less than 64 bytes later. Each of the 0 to 7 slots after the last
// whole octet is a byte. end is at least 8, since a shard has at least 8 slots.
func paritiesAtEnd(shard []byte, at, end uint, coeffs uint64) byte {
	sum := uint64(0)
	for ; at+8 <= end; at += 8 {
		sum ^= load8(shard, at) & spread(coeffs)
		coeffs >>= 8
	}
	// The r bytes from at to end are the top ones of the last 8. The shift is 8*(8-r) bits, which is
	// 8*(at-end) modulo 64. If r is 0, no coefficients remain, and the bytes do not matter.
	slots := load8(shard, end-8) >> (8 * (at - end) & 63)
	// Byte i of ones is to be 0xff if coefficient i is 1. Now it is 1<<i, at most 0x80.
	ones := spread(coeffs) & 0x8040201008040201
	// Plus 0x7f it is at most 0xff, so nothing is carried, and its top bit is set unless it was 0.
	ones = (ones + 0x7f7f7f7f7f7f7f7f) & 0x8080808080808080 >> 7 * 0xff
	return fold(sum) ^ sum8(slots&ones)
}

// satisfiesColumnsAtEnd is satisfiesColumns for a span that is cut off, in the columns from byte at
// on. No such span fits in the short column. Only a filter of one shard has such spans, since each
// of many shards has at least 64 slots, in whole octets. The shard has at least minPayload bytes.
//
// It loads the 8 bytes up to the end of the column's whole octets. The span is the last 1 to 7 of
// them. Without groups, these 8 bytes may begin up to 7 bytes before the shard; then it loads the
// first 8 bytes of the shard, and shifts the coefficients down by the difference. That loses none,
// because the lowest ones are 0. The last 8 bytes of the shard include the bits of the remaining
// slots, the first column's on top. Rotating by remaining brings the next column's bits to the
// bottom. At most 7 columns are left here, with 49 bits at most.
func satisfiesColumnsAtEnd(shard []byte, slots, start, at uint, coeffs, fp uint64) bool {
	whole, remaining := slots/8, slots%8
	inWhole := 8 * (whole - start) & 63 // slots of the span in whole octets, 8 to 56
	coeffs, endCoeffs := coeffs<<(64-inWhole), coeffs>>inWhole
	endBits := load8(shard, uint(len(shard))-8)
	room := 8 * (uint(len(shard)) - at) // bits
	at += whole - 8                     // the 8 bytes up to the column's end
	for ; room >= slots; room -= slots {
		from, c := at, coeffs
		if int(at) < 0 { // only where there are no groups
			from, c = 0, coeffs>>(8*-at&63)
		}
		endBits = bits.RotateLeft64(endBits, int(remaining))
		ones := bits.OnesCount64(load8(shard, from)&c ^ endBits&endCoeffs)
		if (uint64(ones)^fp)&1 != 0 {
			return false
		}
		fp >>= 1
		at += whole
	}
	return true
}

// spread returns 8 copies of the lowest byte of b.
func spread(b uint64) uint64 { return b & 0xff * 0x0101010101010101 }

// fold returns the parities of the 8 bytes of x, byte i's as bit i. The shifts, by 0 to 7 bits in
// all, add up the 8 bits of each byte in its top bit. Bit 8*i+7 of x times bit 49-7*j of the factor
// is bit 56 + 8*i - 7*j of the product. For i and j from 0 to 7, these are 64 different bits, so
// nothing is carried; bit 56+i is that of i = j.
func fold(x uint64) byte {
	x ^= x << 4
	x ^= x << 2
	x ^= x << 1
	return byte(x & 0x8080808080808080 * 0x0002040810204081 >> 56)
}

func load8(b []byte, at uint) uint64 { return binary.LittleEndian.Uint64(b[at : at+8 : at+8]) }
