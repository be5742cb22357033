package ribbon

import "math"

// Info is what the bytes of a filter say of themselves.
type Info struct {
	Payload int     // bytes before the trailer: the shards and the index
	Shards  int     // each solved by itself
	Slots   int     // of all shards
	Columns int     // that every slot has
	Keys    float64 // about
	FPP     float64 // probability that a random absent key may be in the filter
}

// spareSlots is how many slots more than keys a shard has on average if it is one of many: its
// slots are a multiple of 8.
const spareSlots = 3.5

// Parse returns what the filter says. If ok is false, it is malformed: all keys, or those of some
// shards, may be in it. It accepts any bytes, but does not look at the last one alone.
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
		if !soloFits(uint(size), uint(slots)) {
			return Info{}, false
		}
		columns := areasOf(size, slots).columns
		fpp := shardFPP(filter[:size], slots, end>>42%seeds)
		return Info{size, 1, slots, columns, float64(slots), fpp}, true
	}
	shards := end % (1 << 32)
	info = Info{Payload: n - trailer, Shards: int(shards), Columns: int(end >> 42 % 64)}
	for i := range shards {
		shard, slots, seed, ok := locate(filter, end, i)
		if !ok {
			return Info{}, false
		}
		info.Slots += int(slots)
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

// rate returns the false-positive probability of a shard that has one more column in the first wide
// blocks. blocks-1 equally likely starts are drawn, and with wide-4 of them, 3 of these before the
// shard, the window lies in the wide part.
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
	perShard := (float64(n)/shards + spareSlots) / 8 // blocks
	columns := math.Floor(room / (shards * perShard))
	wide := room/perShard - columns*shards // shards that have one column more
	whole, part := math.Modf(wide)
	return (whole*rate(columns+1, 0, perShard) + rate(columns, part*perShard, perShard) +
		(shards-whole-1)*rate(columns, 0, perShard)) / shards
}
