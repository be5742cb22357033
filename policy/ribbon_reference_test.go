package policy

import (
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// A second implementation of ribbon filters, written after the text of FORMAT.md, plainly and
// slowly: every equation is a bit set over all slots of its layer, in the order of elimination.

type refEquation struct {
	slots []uint64
	print uint64
}

// A refSystem contains equations that are linearly independent, by their first slot.
type refSystem map[int]refEquation

func (e refEquation) first() int {
	for i, w := range e.slots {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// add returns the first slot of what is left of the equation, or -1 if it depends on the others.
func (s refSystem) add(e refEquation) int {
	e.slots = slices.Clone(e.slots)
	for {
		first := e.first()
		if first < 0 {
			return -1
		}
		row, found := s[first]
		if !found {
			s[first] = e
			return first
		}
		for i, w := range row.slots {
			e.slots[i] ^= w
		}
		e.print ^= row.print
	}
}

// solve returns the columns of n slots, as the bits of a word each.
func (s refSystem) solve(n int) []uint64 {
	z := make([]uint64, n)
	for slot := n - 1; slot >= 0; slot-- {
		if row, found := s[slot]; found {
			z[slot] = row.print
			for other := slot + 1; other < n; other++ {
				if row.slots[other/64]>>(other%64)&1 == 1 {
					z[slot] ^= z[other]
				}
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

// refLast says where a key's coefficients in the last layer are: in band from the block on, and in
// the tail.
func refLast(x uint64, seed, m, blocks, t, p int) (block int, band, tail uint64, more bool) {
	if seed >= 8 {
		x = refMix(x, uint64(seed/8))
	}
	f := p - 2 - min(m-p, 4*t)/8
	if p >= m {
		f = m
	} else if f < 0 || blocks > 0 && p <= t {
		f = 0
	}
	more = int((x&0xffffffff)*uint64(m)>>32) < f
	y := bits.RotateLeft64(x, 32) * 0x94d049bb133111eb
	y ^= y >> 32
	for i := range t {
		c := y >> i & 1
		if i < 2 {
			c = refPrint(x) >> (41 + 2*(seed%8) + i) & 1
		}
		if more && p < m && blocks == 0 && i >= p {
			c = 0
		}
		tail |= c << i
	}
	if blocks > 0 {
		r := p - t
		first, end := 0, blocks-3
		if f > 0 && p < m && more {
			end = max(1, (r+15)/16-3)
		} else if f > 0 && p < m {
			first = min(r/16, blocks-4)
		}
		block, band = first+int((x>>32)*uint64(end-first)>>32), refBand(x)
		for i := range 64 {
			if more && p < m && 16*block+i >= r {
				band &^= 1 << i
			}
		}
	}
	return block, band, tail, more
}

func refBlocksOfLast(m int) int {
	if m <= 64 {
		return 0
	}
	return 4 + max(0, m-104)/16
}

// referenceRibbon writes the filter of keys.
func referenceRibbon(bitsPerKey float64, keys [][]byte) []byte {
	var hashes []uint64
	for _, key := range keys {
		hashes = append(hashes, xxh3.Hash(key))
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	n := len(hashes)
	b := int(math.Ceil(math.Ceil(float64(n)*bitsPerKey) / 8))
	if b < 5 {
		return referenceBlockedOf(bitsPerKey, hashes)
	}

	var layers []refSystem
	var blocks []int // of the upper layers
	var allBumps []byte
	left := hashes
	for len(left) > 2000 {
		m := len(left)
		count := (m - m/24) / 16
		bumps := make([]byte, (count+11)/15)
		starts := make([][]uint64, count-3)
		for _, x := range left {
			s := refStart(x, count)
			starts[s] = append(starts[s], x)
		}
		system := refSystem{}
		left = nil
		pivots := make([][]int, len(starts))
		drop := func(s int) { // a start's equations
			for _, first := range pivots[s] {
				delete(system, first)
			}
			pivots[s] = nil
		}
		bumped := make([]bool, len(starts))
		for s := range starts {
			bump := &bumps[s/15]
			low, high := int(*bump&15), int(*bump>>4)
			if bumped[s] = low > high; bumped[s] {
				continue
			}
			for _, x := range starts[s] {
				e := refEquation{make([]uint64, (16*count+63)/64+1), refPrint(x)}
				at, shift := s/4, 16*(s%4)
				e.slots[at] |= refBand(x) << shift
				e.slots[at+1] |= refBand(x) >> (64 - shift)
				first := system.add(e)
				if first < 0 {
					bumped[s] = true
					drop(s)
					break
				}
				pivots[s] = append(pivots[s], first)
			}
			switch {
			case !bumped[s]:
			case high == 0:
				*bump = byte(s%15+1) << 4
			case low == 0:
				*bump = byte(high | (s%15+1)<<4)
			default:
				*bump = byte(high | low<<4)
				for second := s/15*15 + high - 1; second < s; second++ {
					drop(second)
					bumped[second] = true
				}
			}
		}
		for s, xs := range starts {
			for _, x := range xs {
				if bumped[s] {
					left = append(left, refMix(x, 0))
				}
			}
		}
		allBumps = append(allBumps, bumps...)
		layers, blocks = append(layers, system), append(blocks, count)
	}

	m := len(left)
	if m > 64 {
		m += m / 100
	}
	m = max(1, m)
	lastBlocks := refBlocksOfLast(m)
	t := m - 16*lastBlocks
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
	payload := make([]byte, b+3-len(parameters)-3)
	slots := m
	for _, count := range blocks {
		slots += 16 * count
	}
	room := 8 * (len(payload) - len(allBumps))
	c := room / slots
	p := room - c*slots

	for seed := 0; ; seed++ {
		if seed == 256 {
			return referenceBlockedOf(bitsPerKey, hashes)
		}
		system, independent := refSystem{}, true
		for _, x := range left {
			block, band, tail, _ := refLast(x, seed, m, lastBlocks, t, p)
			y := x
			if seed >= 8 {
				y = refMix(x, uint64(seed/8))
			}
			e := refEquation{make([]uint64, (m+63)/64+1), refPrint(y)}
			set := func(slot int) { e.slots[slot/64] |= 1 << (slot % 64) }
			for i := range 64 {
				if band>>i&1 == 1 {
					set(16*block + i)
				}
				if tail>>i&1 == 1 {
					set(16*lastBlocks + refTailOrder(i, t))
				}
			}
			if system.add(e) < 0 {
				independent = false
				break
			}
		}
		if independent {
			layers = append(layers, system)
			parameters = append(parameters, byte(seed))
			break
		}
	}

	// Slots in the order of the last column: the tail, the band, the upper layers.
	last := layers[len(layers)-1].solve(m)
	var order []uint64
	for i := range t {
		order = append(order, last[16*lastBlocks+refTailOrder(i, t)])
	}
	order = append(order, last[:16*lastBlocks]...)
	for i, count := range blocks {
		order = append(order, layers[i].solve(16*count)...)
	}
	inBlocks := append(slices.Clone(order[m:]), order[t:m]...)
	for i, z := range inBlocks {
		for j := range c {
			bit := i/16*16*c + 16*j + i%16
			payload[bit/8] |= byte(z>>j&1) << (bit % 8)
		}
	}
	at := 2 * c * (len(inBlocks) / 16)
	at += copy(payload[at:], allBumps)
	bit := 8 * at
	for j := range c {
		for i := range t {
			payload[bit/8] |= byte(order[i]>>j&1) << (bit % 8)
			bit++
		}
	}
	for i := range p {
		payload[bit/8] |= byte(order[i]>>c&1) << (bit % 8)
		bit++
	}
	check := byte(uint32(len(payload))*0x9e3779b1>>24) ^ 0x71
	for _, b := range parameters {
		check ^= b
	}
	return append(append(payload, parameters...), check, 0x71)
}

// refTailOrder returns the place of a slot of the tail in the order of elimination.
func refTailOrder(slot, t int) int {
	if t <= 2 {
		return slot
	}
	return (slot + t - 2) % t
}
