package policy

import (
	"math/big"
	"math/bits"
	"slices"
)

// A second implementation of ribbon filters, written after the text of FORMAT.md, plainly and
// slowly.

// A refSystem contains equations that are linearly independent, by their first slot.
type refSystem map[int]refEquation

type refEquation struct {
	slots *big.Int // bit i is the coefficient of slot at + i
	print uint64
}

// add returns the first slot of what is left of an equation, or -1 if it depends on the others.
func (s refSystem) add(at int, slots *big.Int, print uint64) int {
	for slots.Sign() != 0 {
		zeros := slots.TrailingZeroBits()
		slots.Rsh(slots, zeros)
		at += int(zeros)
		e, found := s[at]
		if !found {
			s[at] = refEquation{slots, print}
			return at
		}
		slots.Xor(slots, e.slots)
		print ^= e.print
	}
	return -1
}

// solve returns the columns of n slots, as the bits of a word each.
func (s refSystem) solve(n int) []uint64 {
	z := make([]uint64, n)
	for at := n - 1; at >= 0; at-- {
		if e, found := s[at]; found {
			z[at] = e.print
			for i := 1; i < e.slots.BitLen(); i++ {
				z[at] ^= z[at+i] * uint64(e.slots.Bit(i))
			}
		}
	}
	return z
}

func refMix(x, k uint64) uint64 {
	x += k * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

func refPrint(x uint64) uint64 {
	y := x * 0xff51afd7ed558ccd
	return y ^ y>>32
}

func refBand(x uint64) uint64 { return (x ^ x>>32) * 0xbf58476d1ce4e5b9 }

func refStart(x uint64, n int) int { return int((x >> 32) * uint64(n-3) >> 32) }

// A refShape has the names of the text. b contains the numbers of blocks of the upper layers.
type refShape struct {
	b                    []int
	m, payload           int
	n, blast, t, s, c, p int
	bumps, rest, last    int // where they begin, rest and the last column in bits
}

func newRefShape(b []int, m, payload int) refShape {
	s := refShape{b: b, m: m, payload: payload}
	if m > 64 {
		s.blast = 4 + max(0, m-104)/16
	}
	s.t = m - 16*s.blast
	s.n = s.blast
	bumps := 0
	for _, blocks := range b {
		s.n += blocks
		bumps += (blocks + 11) / 15
	}
	s.s = 16*s.n + s.t
	room := 8 * max(0, payload-bumps)
	s.c = room / max(1, s.s)
	s.p = room - s.c*s.s
	s.bumps = 2 * s.c * s.n
	s.rest = 8 * (s.bumps + bumps)
	s.last = s.rest + s.c*s.t
	return s
}

func (s refShape) fits() bool {
	for _, blocks := range s.b {
		if blocks < 4 {
			return false
		}
	}
	return len(s.b) <= 8 && s.m > 0 && s.c >= 1 && s.c <= 40 && s.payload >= 4
}

// inLast returns where the coefficients of a key are in the last layer: in band from a block on,
// and in tail.
func (s refShape) inLast(x uint64, seed int) (block int, band, tail uint64, more bool) {
	f := s.p - 2 - min(s.m-s.p, 4*s.t)/8
	if s.p >= s.m {
		f = s.m
	} else if f < 0 || s.blast > 0 && s.p <= s.t {
		f = 0
	}
	more = int((x&0xffffffff)*uint64(s.m)>>32) < f
	y := bits.RotateLeft64(x, 32) * 0x94d049bb133111eb
	y ^= y >> 32
	for i := range s.t {
		c := y >> i & 1
		if i < 2 {
			c = refPrint(x) >> (41 + 2*(seed%8) + i) & 1
		}
		if more && s.p < s.m && s.blast == 0 && i >= s.p {
			c = 0
		}
		tail |= c << i
	}
	if s.blast == 0 {
		return 0, 0, tail, more
	}
	r := s.p - s.t
	first, end := 0, s.blast-3
	if 0 < f && f < s.m {
		if more {
			end = max(1, (r+15)/16-3)
		} else {
			first = min(r/16, s.blast-4)
		}
	}
	block, band = first+int((x>>32)*uint64(end-first)>>32), refBand(x)
	for i := range 64 {
		if more && s.p < s.m && 16*block+i >= r {
			band &^= 1 << i
		}
	}
	return block, band, tail, more
}

// referenceRibbon writes the filter of keys.
func referenceRibbon(bitsPerKey float64, keys [][]byte) []byte {
	hashes := hashesOf(keys)
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	if filter := refRibbonOf(bitsPerKey, hashes); filter != nil {
		return filter
	}
	return referenceBlockedOf(bitsPerKey, hashes)
}

// refRibbonOf returns nil instead of a blocked filter.
func refRibbonOf(bitsPerKey float64, left []uint64) []byte {
	b := int(referenceBits(bitsPerKey, len(left))+7) / 8
	if b < 5 {
		return nil
	}
	var layers []refSystem
	var blocks []int // of the upper layers
	var bumps []byte
	for len(left) > 2000 {
		m := len(left)
		count := (m - m/24) / 16
		layer, more, bumped := refUpper(left, count)
		if len(layers) == 8 || len(bumped) > m/2 {
			return nil
		}
		bumps = append(bumps, more...)
		layers, blocks, left = append(layers, layer), append(blocks, count), bumped
	}

	m := max(1, len(left))
	if m > 64 {
		m += m / 100
	}
	parameters := []byte{byte(m)}
	if m >= 128 {
		parameters = append(parameters, byte(128+m/256))
	}
	for _, count := range blocks {
		parameters = append(parameters, byte(count), byte(count>>8), byte(count>>16))
	}
	if len(blocks) > 0 {
		parameters = append(parameters, byte(240+len(blocks)))
	}
	s := newRefShape(blocks, m, b+3-len(parameters)-3)
	if !s.fits() {
		return nil
	}
	for seed := range 256 {
		if system := s.refLast(left, seed); system != nil {
			return s.write(append(layers, system), bumps, append(parameters, byte(seed)))
		}
	}
	return nil
}

// refBumped reports whether the keys of a start are bumped. b is the byte of its bucket.
func refBumped(b byte, start int) bool {
	r, low, high := byte(start%15+1), b&15, b>>4
	return r == low || r == high || r > low && low > high
}

// refUpper returns an upper layer with so many blocks, its bumps, and the bumped keys' hashes.
func refUpper(hashes []uint64, count int) (layer refSystem, bumps []byte, bumped []uint64) {
	starts := make([][]uint64, count-3)
	for _, x := range hashes {
		s := refStart(x, count)
		starts[s] = append(starts[s], x)
	}
	layer = refSystem{}
	remove := func(slots []int) {
		for _, slot := range slots {
			delete(layer, slot)
		}
	}
	for first := 0; first < len(starts); first += 15 {
		var fails []byte // the r of starts
		var after []int  // slots of the equations that were added after the second one
		bucket := starts[first:min(first+15, len(starts))]
		for i, start := range bucket {
			var added []int
			for _, x := range start {
				slot := layer.add(16*(first+i), new(big.Int).SetUint64(refBand(x)), refPrint(x))
				if slot < 0 {
					remove(added)
					added = nil
					fails = append(fails, byte(i+1))
					break
				}
				added = append(added, slot)
			}
			if len(fails) == 2 {
				after = append(after, added...)
			} else if len(fails) == 3 {
				remove(after)
				break
			}
		}
		b := byte(0)
		switch len(fails) {
		case 1:
			b = fails[0] << 4
		case 2:
			b = fails[0] | fails[1]<<4
		case 3:
			b = fails[1] | fails[0]<<4
		}
		bumps = append(bumps, b)
		for i, start := range bucket {
			for _, x := range start {
				if refBumped(b, i) {
					bumped = append(bumped, refMix(x, 0))
				}
			}
		}
	}
	return layer, bumps, bumped
}

// refLast returns the equations of the last layer, or nil if they are not independent.
func (s refShape) refLast(hashes []uint64, seed int) refSystem {
	system := refSystem{}
	for _, x := range hashes {
		if seed >= 8 {
			x = refMix(x, uint64(seed/8))
		}
		block, band, tail, _ := s.inLast(x, seed)
		slots := new(big.Int).SetUint64(band)
		slots.Lsh(slots, uint(16*block))
		for i := range s.t {
			at := 16*s.blast + refTailOrder(i, s.t)
			slots.SetBit(slots, at, slots.Bit(at)|uint(tail>>i&1))
		}
		if system.add(0, slots, refPrint(x)) < 0 {
			return nil
		}
	}
	return system
}

// refTailOrder returns the place of a slot of the tail in the order of elimination.
func refTailOrder(slot, t int) int {
	if t <= 2 {
		return slot
	}
	return (slot + t - 2) % t
}

// write returns the filter of layers that have a solution.
func (s refShape) write(layers []refSystem, bumps, parameters []byte) []byte {
	payload := make([]byte, s.payload)
	set := func(bit int, z uint64) { payload[bit/8] |= byte(z&1) << (bit % 8) }
	last := layers[len(layers)-1].solve(s.m)
	var order []uint64 // of the last column: the tail, the band, the upper layers
	for i := range s.t {
		order = append(order, last[16*s.blast+refTailOrder(i, s.t)])
	}
	order = append(order, last[:16*s.blast]...)
	for i, count := range s.b {
		order = append(order, layers[i].solve(16*count)...)
	}
	for j := range s.c {
		for i, z := range append(slices.Clone(order[s.m:]), order[s.t:s.m]...) {
			set(i/16*16*s.c+16*j+i%16, z>>j)
		}
		for i := range s.t {
			set(s.rest+j*s.t+i, order[i]>>j)
		}
	}
	copy(payload[s.bumps:], bumps)
	for i := range s.p {
		set(s.last+i, order[i]>>s.c)
	}
	return refRibbonTrailer(payload, parameters)
}

func refRibbonCheck(payload int, parameters []byte) byte {
	check := byte(uint32(payload)*0x9e3779b1>>24) ^ 0x71
	for _, b := range parameters {
		check ^= b
	}
	return check
}

// refRibbonTrailer appends the trailer of a ribbon filter to its payload.
func refRibbonTrailer(payload, parameters []byte) []byte {
	return append(append(payload, parameters...), refRibbonCheck(len(payload), parameters), 0x71)
}

// refRibbonShape reads a trailer, whatever its check byte is. It returns the check byte that would
// be right; if ok is false, there is none.
func refRibbonShape(filter []byte) (s refShape, seed, check byte, ok bool) {
	var blocks []int
	at := len(filter) - 4
	if at >= 0 && filter[at] >= 240 {
		u := int(filter[at]) - 240
		if at -= 3*u + 1; at < 0 {
			return s, 0, 0, false
		}
		for b := filter[at+1:]; u > 0; u, b = u-1, b[3:] {
			blocks = append(blocks, int(b[0])+int(b[1])<<8+int(b[2])<<16)
		}
	}
	if at < 0 || at == 0 && filter[at] >= 128 {
		return s, 0, 0, false
	}
	m := int(filter[at])
	if m >= 128 {
		at--
		m = (m-128)*256 + int(filter[at])
	}
	s = newRefShape(blocks, m, at)
	return s, filter[len(filter)-3], refRibbonCheck(at, filter[at:len(filter)-2]), s.fits()
}

// REQUIRES: the last byte is 0x71.
func referenceRibbonMayContain(filter, key []byte) bool {
	s, seed, check, ok := refRibbonShape(filter)
	return !ok || filter[len(filter)-2] != check ||
		s.mayContain(filter, int(seed), hashesOf([][]byte{key})[0])
}

func (s refShape) mayContain(filter []byte, seed int, x uint64) bool {
	bit := func(p int) uint64 { return uint64(filter[p/8] >> (p % 8) & 1) }
	// sum adds up the slots from a block on, in a column that all slots have.
	sum := func(block, j int, band uint64) (sum uint64) {
		for i := range 64 {
			sum ^= band >> i & 1 * bit((16*block+i)/16*16*s.c+16*j+i%16)
		}
		return sum
	}
	inLastColumn := func(slot int, band uint64) (sum uint64) {
		for i := range 64 {
			if band>>i&1 == 1 {
				sum ^= bit(s.last + slot + i)
			}
		}
		return sum
	}
	first, bumps := 0, s.bumps
	for _, blocks := range s.b {
		start := refStart(x, blocks)
		if !refBumped(filter[bumps+start/15], start) {
			for j := range s.c {
				if sum(first+start, j, refBand(x)) != refPrint(x)>>j&1 {
					return false
				}
			}
			slot := s.m + 16*(first+start)
			return slot+64 > s.p || inLastColumn(slot, refBand(x)) == refPrint(x)>>s.c&1
		}
		first += blocks
		bumps += (blocks + 11) / 15
		x = refMix(x, 0)
	}
	if seed >= 8 {
		x = refMix(x, uint64(seed/8))
	}
	block, band, tail, more := s.inLast(x, seed)
	for j := range s.c {
		sums := uint64(0)
		if s.blast > 0 {
			sums = sum(first+block, j, band)
		}
		for i := range s.t {
			sums ^= tail >> i & 1 * bit(s.rest+j*s.t+i)
		}
		if sums != refPrint(x)>>j&1 {
			return false
		}
	}
	return !more || inLastColumn(0, tail)^inLastColumn(s.t+16*block, band) == refPrint(x)>>s.c&1
}
