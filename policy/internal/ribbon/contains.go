package ribbon

import (
	"encoding/binary"
	"math/bits"
)

// Contains reports whether the key with this hash may be in the filter. It accepts any bytes, and
// returns true if they are malformed. The caller has compared the last byte with Encoding.
//
// All steps stand here or are inlined (TestInlinedSteps). As calls of three functions, for a shard,
// its equation and a group, they took 10 to 25 % longer in filters of 500 to 10,000 keys (measured
// once, Zen 3). Bloom filters have a function of their own, and so have spans that the end of the
// table cuts off: with less than 64 slots, all of them.
func Contains(filter []byte, hash uint64) bool {
	n := uint(len(filter))
	if n < minPayload+soloTrailer {
		return true
	}
	end := load8(filter, n-trailer)
	if sum8(end) != lengthCheck(filter) {
		return true
	}
	// The shard is filter[from:to], which is not sliced: that takes more time than it saves.
	slots, seed := uint(end>>32%slotsRange), end>>32/slotsRange%seeds
	from, to := uint(0), n-soloTrailer
	if slots == 0 {
		index, columns, octets, short, ok := indexOf(filter, end)
		if !ok {
			return true
		}
		var first, next uint64
		first, next, seed, ok = locate(filter, index, octets, shardOf(hash, end%(1<<32)))
		if !ok {
			return true
		}
		from, to = uint(offset(first, columns, short)), uint(offset(next, columns, short))
		slots = uint(8 * (next - first))
	} else if slots < minSlots || to >= ((maxColumns+1)*slots+7)/8 { // 41 columns
		return true
	}
	if seed == bloomSeed {
		return bloomContains(filter[from:to:to], slots, hash)
	}

	coeffs, fp := draw(hash, multiplier(seed))
	start, varies := place(fp, slots)
	variant := varied(fp, seed) & varies
	if cut := beyond(start, slots); cut > 0 {
		// Many shards have whole octets, in which no span is cut off: from is 0.
		return satisfiesAtEnd(filter[:to:to], slots, start, coeffs>>cut^variant, fp)
	}
	coeffs ^= variant
	at := from
	for ; at+slots <= to; at += slots { // a group of 8 columns
		// Add up the slots whose coefficients are 1: byte j of a sum is that of column j. The span
		// lies within the group, as it is not cut off.
		b := filter[at+8*start : at+8*start+spanSlots : at+8*start+spanSlots]
		s01 := load8(b, 0)&spread(coeffs) ^ load8(b, 8)&spread(coeffs>>8)
		s23 := load8(b, 16)&spread(coeffs>>16) ^ load8(b, 24)&spread(coeffs>>24)
		s45 := load8(b, 32)&spread(coeffs>>32) ^ load8(b, 40)&spread(coeffs>>40)
		s67 := load8(b, 48)&spread(coeffs>>48) ^ load8(b, 56)&spread(coeffs>>56)
		if fold((s01^s23)^(s45^s67)) != byte(fp) {
			return false
		}
		fp >>= 8
	}
	return satisfiesColumns(filter[:to:to], slots, at+start, coeffs, fp)
}

// satisfiesColumns checks the columns after the groups; in the first, the span begins at byte at of
// bytes that end with the shard.
//
// The shard ends with the bits of the remaining slots, which take rest/8 bytes for the columns up
// to the current one: (remaining*(i+1) + 7)/8 bytes for i+1 columns. In a column that all octets
// have, spans end before these bytes (layoutOf). In the short column, a span ends before them if
// and only if it lies within the column. The loop ends after the short column: as that has fewer
// than slots/8 bytes, every span of another column would reach into the bytes at the end.
func satisfiesColumns(b []byte, slots, at uint, coeffs, fp uint64) bool {
	remaining := slots % 8
	for rest := remaining + 7; at+8 <= uint(len(b))-rest/8; rest += remaining {
		if (uint64(bits.OnesCount64(load8(b, at)&coeffs))^fp)&1 != 0 {
			return false
		}
		fp >>= 1
		at += slots / 8
	}
	return true
}

// indexOf returns where the index of a filter of many shards begins, and how its octets lie before
// it: all have that many columns, and the first short ones one more. The filter has at least 12
// bytes, of which the last 8 are end. If ok is false, all keys may be in it.
func indexOf(filter []byte, end uint64) (index, columns, octets, short uint64, ok bool) {
	n := uint64(len(filter))
	index = n - trailer - indexEntry*(end%(1<<32)+1)
	columns = end >> 32 / slotsRange % 64
	octets = load8(filter, uint(n-trailer-indexEntry)) % (1 << 32) / seeds
	short = index - columns*octets
	return index, columns, octets, short, index <= n && short <= index && columns <= maxColumns
}

// locate returns the first octet of shard i and of the next one, and the seed. If ok is false, all
// keys of the shard may be in it. A count of 0 shards fails here too: entry 0 of the index is then
// the terminator, so next is 0 and first + 8 > next.
func locate(filter []byte, index, octets, i uint64) (first, next, seed uint64, ok bool) {
	pair := load8(filter, uint(index+indexEntry*i))
	first, next = pair%(1<<32)/seeds, pair>>32/seeds
	if first+spanOctets > next || next > octets {
		return 0, 0, 0, false
	}
	return first, next, pair % seeds, true
}

// satisfiesAtEnd checks all columns for a span that the end of the table cuts off.
func satisfiesAtEnd(shard []byte, slots, start uint, coeffs, fp uint64) bool {
	at := uint(0)
	for ; at+slots <= uint(len(shard)); at += slots {
		if paritiesAtEnd(shard, at+8*start, at+slots, coeffs) != byte(fp) {
			return false
		}
		fp >>= 8
	}
	return satisfiesColumnsAtEnd(shard, slots, start, at, coeffs, fp)
}

// paritiesAtEnd adds up the slots whose coefficients are 1, in each column of a group. The span
// begins at byte at and ends with the group at byte end, less than 64 bytes later. Each of the 0 to
// 7 slots after the last whole octet is a byte. end is at least 8, since a shard has at least 8
// slots.
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
