package ribbon

import (
	"encoding/binary"
	"math/bits"
)

// Contains reports whether the key with this hash may be in the filter. It accepts any bytes: if
// they are no filter, every key may be in it. The caller has compared the last byte with Encoding.
func Contains(filter []byte, hash uint64) bool {
	n := uint(len(filter))
	if n < minPayload+soloTrailer {
		return true
	}
	end := load8(filter, n-trailer)
	if sum8(end) != lengthCheck(filter) {
		return true
	}
	slots, seed := uint(end>>32%1024), end>>42%seeds
	if slots == 0 {
		shard, slots, seed, ok := locate(filter, end, shardOf(hash, end%(1<<32)))
		return !ok || fulfills(shard, slots, seed, hash)
	}
	size := n - soloTrailer
	tooLarge := ((maxColumns+1)*slots + 7) / 8 // 41 columns
	return slots < minKeys || size >= tooLarge || fulfills(filter[:size:size], slots, seed, hash)
}

// locate returns shard i of a filter of at least 12 bytes, of which the last 8 are end. If ok is
// false, all keys of the shard may be in it.
func locate(filter []byte, end, i uint64) (shard []byte, slots uint, seed uint64, ok bool) {
	n := uint64(len(filter))
	index := n - trailer - indexEntry*(end%(1<<32)+1)
	columns := end >> 42 % 64
	blocks := load8(filter, uint(n-trailer-indexEntry)) % (1 << 32) / seeds
	wide := index - columns*blocks
	if index > n || wide > index || columns > maxColumns {
		return nil, 0, 0, false
	}
	pair := load8(filter, uint(index+indexEntry*i))
	first, next := pair%(1<<32)/seeds, pair>>32/seeds
	if first+windowBlocks > next || next > blocks {
		return nil, 0, 0, false
	}
	from, to := offset(first, columns, wide), offset(next, columns, wide)
	return filter[from:to:to], uint(8 * (next - first)), pair % seeds, true
}

// fulfills reports whether a shard fulfills the equation of a key, in all columns of the key, or if
// it is a Bloom filter, has all of the key's bits.
func fulfills(shard []byte, slots uint, seed, hash uint64) bool {
	if seed == bloomSeed {
		return bloomContains(shard, slots, hash)
	}
	coeffs, fp := draw(hash, multiplier(seed))
	start, turning := place(fp, slots)
	coeffs ^= turned(fp, seed) & turning
	whole := 8*start+windowSlots <= slots
	if !whole {
		coeffs = inside(coeffs, start, slots)
	}
	at := uint(0)
	for ; at+slots <= uint(len(shard)); at += slots {
		if whole {
			if parities(shard, at+8*start, coeffs) != byte(fp) {
				return false
			}
		} else if paritiesAtEnd(shard, at+8*start, at+slots, coeffs) != byte(fp) {
			return false
		}
		fp >>= 8
	}
	if whole {
		return fulfillsColumns(shard, slots, at+start, coeffs, fp)
	}
	return fulfillsColumnsAtEnd(shard, slots, start, at, coeffs, fp)
}

// parities adds up, in each of the 8 columns of a group, the slots whose coefficients are 1. The
// window begins at byte at.
func parities(shard []byte, at uint, coeffs uint64) byte {
	b := shard[at : at+windowSlots : at+windowSlots]
	s01 := load8(b, 0)&spread(coeffs) ^ load8(b, 8)&spread(coeffs>>8)
	s23 := load8(b, 16)&spread(coeffs>>16) ^ load8(b, 24)&spread(coeffs>>24)
	s45 := load8(b, 32)&spread(coeffs>>32) ^ load8(b, 40)&spread(coeffs>>40)
	s67 := load8(b, 48)&spread(coeffs>>48) ^ load8(b, 56)&spread(coeffs>>56)
	return fold((s01 ^ s23) ^ (s45 ^ s67))
}

// fulfillsColumns checks the columns after the groups; in the first, the window begins at byte at.
// Where it would end beyond the short last column, the key does not have that column.
func fulfillsColumns(shard []byte, slots, at uint, coeffs, fp uint64) bool {
	left := slots % 8
	for rest := left + 7; at+8 <= uint(len(shard))-rest/8; rest += left {
		if (uint64(bits.OnesCount64(load8(shard, at)&coeffs))^fp)&1 != 0 {
			return false
		}
		fp >>= 1
		at += slots / 8
	}
	return true
}

// paritiesAtEnd is parities in a window that begins at byte at of a group that ends at byte end.
// The slots after the last whole block have a byte each.
func paritiesAtEnd(shard []byte, at, end uint, coeffs uint64) byte {
	sum := uint64(0)
	for ; at+8 <= end; at += 8 {
		sum ^= load8(shard, at) & spread(coeffs)
		coeffs >>= 8
	}
	slots := load8(shard, end-8) >> (8 * (at - end) & 63)
	ones := spread(coeffs) & 0x8040201008040201 // byte i is not 0 if coefficient i is 1
	ones = (ones + 0x7f7f7f7f7f7f7f7f) & 0x8080808080808080 >> 7 * 0xff
	return fold(sum) ^ sum8(slots&ones)
}

// fulfillsColumnsAtEnd is fulfillsColumns for the columns from byte at on. No such window fits in a
// column that only the first blocks have.
func fulfillsColumnsAtEnd(shard []byte, slots, start, at uint, coeffs, fp uint64) bool {
	whole, left := slots/8, slots%8
	inWhole := 8 * (whole - start) & 63 // slots of the window in whole blocks, 8 to 56
	coeffs, rest := coeffs<<(64-inWhole), coeffs>>inWhole
	rests := load8(shard, uint(len(shard))-8)
	room := 8 * (uint(len(shard)) - at) // bits
	at += whole - 8                     // the 8 bytes up to the column's end
	for ; room >= slots; room -= slots {
		from, c := at, coeffs
		if int(at) < 0 { // only where there are no groups
			from, c = 0, coeffs>>(8*-at&63)
		}
		rests = bits.RotateLeft64(rests, int(left)) // its lowest bits: the slots left of this column
		ones := bits.OnesCount64(load8(shard, from)&c ^ rests&rest)
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

// fold returns the parities of the 8 bytes of x: each byte's goes to its top bit, and the product
// moves these to the top byte.
func fold(x uint64) byte {
	x ^= x << 4
	x ^= x << 2
	x ^= x << 1
	return byte(x & 0x8080808080808080 * 0x0002040810204081 >> 56)
}

func load8(b []byte, at uint) uint64 { return binary.LittleEndian.Uint64(b[at : at+8 : at+8]) }
