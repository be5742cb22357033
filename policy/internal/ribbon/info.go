package ribbon

import "math"

// Parse returns how many columns all slots of a filter have. If it returns false, the filter is
// malformed: all keys, or those of some shards, may be in it. It accepts any bytes. The caller has
// compared the last byte with Encoding.
func Parse(filter []byte) (columns int, ok bool) {
	n := len(filter)
	if n < minPayload+soloTrailer {
		return 0, false
	}
	end := load8(filter, uint(n-trailer))
	if sum8(end) != lengthCheck(filter) {
		return 0, false
	}
	if slots := int(end >> 32 % slotsRange); slots > 0 {
		columns := layoutOf(n-soloTrailer, slots).columns
		return columns, slots >= minSlots && columns <= maxColumns
	}
	shards := end % (1 << 32)
	index, whole, octets, _, ok := indexOf(filter, end)
	for i := uint64(0); ok && i < shards; i++ {
		_, _, _, ok = locate(filter, index, octets, i)
	}
	if !ok || shards == 0 {
		return 0, false
	}
	return int(whole), true
}

// MayBeOf reports whether Finish may have written a filter with these bits per key: whether it has
// the size of one of its number of keys, which one shard tells, and the number of shards nearly. It
// is false for malformed filters. bitsPerKey is as in Size.
func MayBeOf(filter []byte, bitsPerKey float64) bool {
	if _, ok := Parse(filter); !ok {
		return false
	}
	end := load8(filter, uint(len(filter)-trailer))
	if slots := int(end >> 32 % slotsRange); slots > 0 {
		return len(filter) == Size(slots, bitsPerKey)
	}
	shards := int(end % (1 << 32))
	least := shards*shardKeys - shardKeys/2 // see shardsFor
	most := least + shardKeys - 1
	if shards == 2 {
		least = soloKeys + 1
	}
	return Size(least, bitsPerKey) <= len(filter) && len(filter) <= Size(most, bitsPerKey)
}

// fpp returns the false-positive probability of a shard with a solution.
func fpp(size, slots int) float64 {
	l := layoutOf(size, slots)
	return rate(float64(l.columns), float64(l.short), float64((slots+7)/8))
}

// rate returns the false-positive probability if the first short of the octets have one more
// column. There are octets-7 starts and, with padding at both ends, octets-1 values of d. Starts 0
// to short-8 have spans within the short column: short-4 values of d, with the 3 negative ones.
func rate(columns, short, octets float64) float64 {
	share := 0.0
	if short >= spanOctets {
		share = min(1, (short-spanOctets+1+padding)/(octets-spanOctets+1+2*padding))
	}
	return math.Exp2(-columns) * (1 - share/2)
}

// FPP returns the expected false-positive probability of a filter of n keys. It treats the octets
// of many shards as those of one, which is accurate to 5 % (TestFPP of package
// policy).
// REQUIRES: n is 1 or more, and bitsPerKey is 2 to 40.
func FPP(n int, bitsPerKey float64) float64 {
	size, shards := Size(n, bitsPerKey), float64(shardsFor(n))
	switch {
	case n > maxKeys:
		return 1
	case shards == 1:
		return fpp(size-soloTrailer, max(minSlots, n))
	}
	room := float64(size) - trailer - indexEntry*(shards+1)
	const spareSlots = 3.5 // of a shard, on average, as its slots are a multiple of 8
	octets := shards * (float64(n)/shards + spareSlots) / 8
	columns := math.Floor(room / octets)
	return rate(columns, room-columns*octets, octets)
}
