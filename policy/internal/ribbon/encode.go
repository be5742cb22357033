package ribbon

import (
	"encoding/binary"
	"slices"

	"github.com/levelbloom/levelbloom/policy/internal/builder"
)

// An encoder writes filters, one after another, in the same memory: 140 KB, and 8 bytes per key of
// the largest filter.
type encoder struct {
	hashes []uint64 // by shard
	ends   []int    // of each shard's hashes, which begin where those of the one before end
	solver solver
}

// split sorts the hashes of a buffer by shard. Their order does not matter.
func (e *encoder) split(b *builder.Buffer[uint64]) {
	shards := shardsFor(b.N)
	e.hashes = slices.Grow(e.hashes[:0], b.N)[:b.N]
	e.ends = slices.Grow(e.ends[:0], shards)[:shards]
	clear(e.ends)
	for part := range b.All {
		for _, hash := range part {
			e.ends[shardOf(hash, uint64(shards))]++ // for now, their number
		}
	}
	at := 0
	for i, keys := range e.ends {
		e.ends[i] = at // for now, where the hashes begin
		at += keys
	}
	for part := range b.All {
		for _, hash := range part {
			end := &e.ends[shardOf(hash, uint64(shards))]
			e.hashes[*end] = hash
			*end++
		}
	}
}

// write overwrites filter.
func (e *encoder) write(filter []byte) {
	clear(filter)
	if len(e.ends) == 1 {
		slots := max(minSlots, len(e.hashes))
		seed := e.writeShard(filter[:len(filter)-soloTrailer], slots, e.hashes)
		seal(filter, uint64(slots)+slotsRange*seed)
		return
	}
	shards, octets, from := uint64(len(e.ends)), uint64(0), 0
	for _, end := range e.ends {
		octets += octetsFor(end - from)
		from = end
	}
	index := uint64(len(filter)-trailer) - indexEntry*(shards+1)
	columns := min(maxColumns, index/octets)
	short := index - columns*octets
	entries := filter[index:]
	first, from := uint64(0), 0
	for _, end := range e.ends {
		next := first + octetsFor(end-from)
		shard := filter[offset(first, columns, short):offset(next, columns, short)]
		seed := e.writeShard(shard, int(8*(next-first)), e.hashes[from:end])
		binary.LittleEndian.PutUint32(entries, uint32(first*seeds+seed))
		first, from, entries = next, end, entries[indexEntry:]
	}
	binary.LittleEndian.PutUint32(entries, uint32(octets*seeds))
	binary.LittleEndian.PutUint32(entries[indexEntry:], uint32(shards))
	seal(filter, slotsRange*columns)
}

// octetsFor returns the number of octets of a shard of a filter that has many.
func octetsFor(keys int) uint64 { return uint64(max(spanOctets, (keys+7)/8)) }

// writeShard writes one shard, whose bytes are 0, and returns its seed.
func (e *encoder) writeShard(shard []byte, slots int, hashes []uint64) (seed uint64) {
	seed, ok := e.solver.solve(slots, hashes)
	if !ok {
		setBloom(shard, slots, hashes)
		return bloomSeed
	}
	e.solver.store(shard)
	return seed
}

// seal writes the last 4 bytes: parameters (2), check, encoding.
func seal(filter []byte, parameters uint64) {
	n := len(filter)
	binary.LittleEndian.PutUint16(filter[n-4:], uint16(parameters))
	filter[n-1] = Encoding
	filter[n-2] = sum8(load8(filter, uint(n-trailer))) ^ lengthCheck(filter)
}

// solve finds the lowest seed for which the system has a solution, and the values of the slots.
func (s *solver) solve(slots int, hashes []uint64) (seed uint64, ok bool) {
	if len(hashes) > maxShardKeys {
		return 0, false
	}
	for seed := uint64(0); seed < solverSeeds; seed += variants {
		s.load(hashes, multiplier(seed), slots)
		if variant, ok := s.eliminate(); ok {
			s.substitute(variant)
			return seed + variant, true
		}
	}
	return 0, false
}

// store writes the values of the slots to a shard, whose bytes are 0.
func (s *solver) store(shard []byte) {
	l := layoutOf(len(shard), s.slots)
	groups, single, whole := l.columns/8, l.columns%8, s.slots/8
	for b := range whole {
		z := &s.values[b]
		for g := range groups {
			binary.LittleEndian.PutUint64(shard[g*s.slots+8*b:], transpose(z, 8*g))
		}
		at, columns := groups*s.slots+b, transpose(z, 8*groups)
		for range single {
			shard[at] = byte(columns)
			columns >>= 8
			at += whole
		}
		if b < l.short {
			shard[at] = byte(columns)
		}
	}
	for i, value := range s.values[whole][:l.remaining] {
		for g := range groups {
			shard[g*s.slots+8*whole+i] = byte(value >> (8 * g))
		}
		for j := range single {
			bit := 8*len(shard) - (j+1)*l.remaining + i
			shard[bit/8] |= byte(value>>(8*groups+j)&1) << (bit % 8)
		}
	}
}

// transpose returns the bits of an octet in 8 columns, from the given one on: bit i of byte j is
// slot i in column+j. It exchanges single bits, then pairs, then fours, across the diagonal.
func transpose(z *[8]uint64, column int) (x uint64) {
	for _, value := range z { // column&63 is column, and spares a comparison with 64
		x = x>>8 | value>>(column&63)<<56
	}
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
