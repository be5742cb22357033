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
	if slots := int(end >> 32 % 1024); slots > 0 {
		size := n - soloTrailer
		columns := areasOf(size, slots).columns
		fpp := shardFPP(filter[:size], slots, end>>42%seeds)
		return Info{size, columns, float64(slots), fpp}, slots >= minKeys && columns <= maxColumns
	}
	shards := end % (1 << 32)
	info = Info{Payload: n - trailer, Columns: int(end >> 42 % 64)}
	for i := range shards {
		shard, slots, seed, ok := locate(filter, end, i)
		if !ok {
			return Info{}, false
		}
		info.Keys += float64(slots) - spareSlots
		info.FPP += shardFPP(shard, int(slots), seed) / float64(shards)
	}
	return info, shards > 0
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
	a := areasOf(size, slots)
	return rate(float64(a.columns), float64(a.wide), float64((slots+7)/8))
}

// rate returns the false-positive probability if the first wide of the blocks have one more column.
// Of the blocks-1 possible draws of a start, wide-4 have windows within these.
func rate(columns, wide, blocks float64) float64 {
	share := 0.0
	if wide >= windowBlocks {
		share = min(1, (wide-windowBlocks+1+padding)/(blocks-windowBlocks+1+2*padding))
	}
	return math.Exp2(-columns) * (1 - share/2)
}

// FPP returns the expected false-positive probability of a filter of n keys, if Size has ok.
func FPP(n int, bitsPerKey float64) float64 {
	size, _ := Size(n, bitsPerKey)
	shards := float64(shardsFor(n))
	if shards == 1 {
		return fpp(size-soloTrailer, n)
	}
	room := float64(size) - trailer - indexEntry*(shards+1)
	blocks := shards * (float64(n)/shards + spareSlots) / 8
	columns := math.Floor(room / blocks)
	return rate(columns, room-columns*blocks, blocks)
}
