package ribbon

import "math"

// Info is what the bytes of a filter say about it.
type Info struct {
	Payload int     // bytes before the trailer: the shards and the index
	Columns int     // that every slot has
	Keys    float64 // about
	FPP     float64 // probability that a random absent key may be in the filter
}

// spareSlots is how many slots more than keys a shard has on average if it is one of many: its
// slots are a multiple of 8.
const spareSlots = 3.5

// Parse returns what the filter says, if ok. Otherwise it is malformed: all keys, or those of some
// shards, may be in it. It accepts any bytes. The caller has checked the last one.
func Parse(filter []byte) (info Info, ok bool) {
	n := len(filter)
	if n < minPayload+soloTrailer {
		return Info{}, false
	}
	end := load8(filter, uint(n-trailer))
	if sum8(end) != lengthCheck(filter) {
		return Info{}, false
	}
	if slots := int(end >> 32 % slotsRange); slots > 0 {
		size := n - soloTrailer
		columns := layoutOf(size, slots).columns
		fpp := shardFPP(filter[:size], slots, end>>32/slotsRange%seeds)
		return Info{size, columns, float64(slots), fpp}, slots >= minSlots && columns <= maxColumns
	}
	shards := end % (1 << 32)
	if shards == 0 {
		return Info{}, false
	}
	info = Info{Payload: n - trailer, Columns: int(end >> 32 / slotsRange % 64)}
	for i := range shards {
		shard, slots, seed, ok := locate(filter, end, i)
		if !ok {
			return Info{}, false
		}
		info.Keys += float64(slots) - spareSlots
		info.FPP += shardFPP(shard, int(slots), seed)
	}
	info.FPP /= float64(shards) // a mean: at most 1
	return info, true
}

// shardFPP returns the false-positive probability of a shard with this seed.
func shardFPP(shard []byte, slots int, seed uint64) float64 {
	if seed == bloomSeed {
		return bloomFPP(shard, slots)
	}
	return fpp(len(shard), slots)
}

// fpp returns the false-positive probability of a shard with a solution.
func fpp(size, slots int) float64 {
	l := layoutOf(size, slots)
	return rate(float64(l.columns), float64(l.short), float64((slots+7)/8))
}

// rate returns the false-positive probability if the first short of the octets have one more
// column. There are octets-7 starts and padding at both ends, so octets-1 draws. Starts 0 to
// short-8 have spans within the short column, and 3 more draws are clamped to 0: short-4 draws.
func rate(columns, short, octets float64) float64 {
	share := 0.0
	if short >= spanOctets {
		share = min(1, (short-spanOctets+1+padding)/(octets-spanOctets+1+2*padding))
	}
	return math.Exp2(-columns) * (1 - share/2)
}

// FPP returns the expected false-positive probability of a filter of n keys, if Size has ok. With
// many shards it takes their octets together for one shard's: TestRates shows that this is within
// 3 %.
func FPP(n int, bitsPerKey float64) float64 {
	size, _ := Size(n, bitsPerKey)
	shards := float64(shardsFor(n))
	if shards == 1 {
		return fpp(size-soloTrailer, max(minSlots, n))
	}
	room := float64(size) - trailer - indexEntry*(shards+1)
	octets := shards * (float64(n)/shards + spareSlots) / 8
	columns := math.Floor(room / octets)
	return rate(columns, room-columns*octets, octets)
}
