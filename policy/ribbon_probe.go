package policy

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// MayContain reports whether key may have been added to filter. It answers as the function
// [MayContain].
func (*Ribbon) MayContain(filter, key []byte) bool {
	if len(filter) < 2 || filter[len(filter)-1] != byte(EncodingRibbon) {
		return MayContain(filter, key)
	}
	return ribbonMayContain(filter, key)
}

// ribbonMayContain reads a filter whose last byte is EncodingRibbon.
func ribbonMayContain(filter, key []byte) bool {
	x := keyHash(key) // overlaps the division in parse
	var s ribbonShape
	return !s.parse(filter) || s.contains(filter, x)
}

// ribbonMayContainMany reads one for many keys, so that their hashes and reads of memory overlap.
func ribbonMayContainMany(filter []byte, keys [][]byte, out []bool) {
	var s ribbonShape
	if !s.parse(filter) {
		setAll(out)
		return
	}
	var hashes [hashGroup]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(hashes))
		for i, key := range keys[:n] {
			hashes[i] = keyHash(key)
		}
		for i, x := range hashes[:n] {
			out[i] = s.contains(filter, x)
		}
		keys, out = keys[n:], out[n:]
	}
}

// contains reports whether a key with hash x may be in the filter.
func (s *ribbonShape) contains(filter []byte, x uint64) bool {
	block, bumps := 0, s.bumps
	for u := s.upper; len(u) >= 3; u = u[3:] {
		n := int(u[0]) | int(u[1])<<8 | int(u[2])<<16
		start := startOf(x, n)
		if !isBumped(filter[bumps:], start) {
			block += start
			print, band := printOf(x), bandOf(x)
			if !s.blocksContain(filter, block, print, band, 0, s.columns) {
				return false
			}
			slot := s.last + block*ribbonBlock
			return slot+ribbonWindow*ribbonBlock > s.part ||
				lastSum(filter, s.flat+s.columns*s.tail+slot, band, print>>s.columns)
		}
		block += n
		bumps += bumpBytes(n)
		x = mix(x, 0)
	}
	k := s.lastKey(s.lastHash(x))
	k.tail |= turn(k.print, s.seed) & (1<<s.tail - 1)
	columns := s.columns
	if k.more {
		columns++
	}
	// A miss leaves after the first four columns, 15 times of 16.
	first := min(4, s.columns)
	print := s.tailSums(filter, k.tail, k.print, 0, first)
	if s.band == 0 {
		return print&(1<<first-1) == 0 &&
			s.tailSums(filter, k.tail, print, first, columns)&(1<<columns-1) == 0
	}
	block += k.start
	if !s.blocksContain(filter, block, print, k.band, 0, first) {
		return false
	}
	print = s.tailSums(filter, k.tail, print, first, columns)
	return s.blocksContain(filter, block, print, k.band, first, s.columns) && (!k.more ||
		lastSum(filter, s.flat+columns*s.tail+k.start*ribbonBlock, k.band, print>>s.columns))
}

// lastSum reports whether slots of the last column add up to bit 0 of print.
func lastSum(filter []byte, bit int, band, print uint64) bool {
	return parity(window(filter, bit)&band)^print&1 == 0
}

func parity(x uint64) uint64 { return uint64(bits.OnesCount64(x) & 1) }

// window returns 64 bits from bit on, or fewer at the end of the filter.
// REQUIRES: the filter has 8 bytes or more.
func window(filter []byte, bit int) uint64 {
	i := min(bit/8, len(filter)-8)
	w := binary.LittleEndian.Uint64(filter[i:]) >> (bit - 8*i)
	if i+8 < len(filter) {
		w |= uint64(filter[i+8]) << (64 - bit%8)
	}
	return w
}

// tailSums adds what the slots of the tail add up to to print, in the columns from j to end-1.
func (s *ribbonShape) tailSums(filter []byte, tail, print uint64, j, end int) uint64 {
	bit := s.flat + j*s.tail
	if tail>>57 != 0 { // there may be 9 bytes with bits of the window
		for ; j < end; j++ {
			print ^= parity(window(filter, bit)&tail) << (j & 63)
			bit += s.tail
		}
		return print
	}
	// Slots of the tail are in the payload, and before the last 8 bytes of the filter or in them.
	at, last := unsafe.Pointer(unsafe.SliceData(filter)), uint(len(filter)-8)
	for bit := uint(bit); j < end; j++ {
		i := min(bit/8, last)
		print ^= parity(load64(unsafe.Add(at, i))>>((bit-8*i)&63)&tail) << (j & 63)
		bit += uint(s.tail)
	}
	return print
}

const everyLane = 1<<48 | 1<<32 | 1<<16 | 1

// blocksContain reports whether the slots from a block on with the coefficients of band add up to
// print in columns from j to end-1. Four columns are added at once, in lanes of 16 bits.
func (s *ribbonShape) blocksContain(filter []byte, block int, print, band uint64, j, end int) bool {
	if end < 4 {
		return (s.blockSums(filter, block, band)^print)&(1<<end-1) == 0
	}
	b0 := band & 0xffff * everyLane
	b1 := band >> 16 & 0xffff * everyLane
	b2 := band >> 32 & 0xffff * everyLane
	b3 := band >> 48 * everyLane
	stride := uintptr(2 * s.columns)
	// All of the window is in the filter: block is at most the layer's blocks less ribbonWindow.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), uintptr(block)*stride)
	for ; j < end; j += 4 {
		j = min(j, end-4)
		p := unsafe.Add(at, 2*j)
		sum := load64(p)&b0 ^ load64(unsafe.Add(p, stride))&b1 ^
			load64(unsafe.Add(p, 2*stride))&b2 ^ load64(unsafe.Add(p, 3*stride))&b3
		sum ^= sum >> 8
		sum ^= sum >> 4
		sum ^= sum >> 2
		sum ^= sum >> 1
		// The parities are at bits 0, 16, 32, 48, and so are now the bits of print.
		sum ^= print >> (j & 63) & 15 * (1<<45 | 1<<30 | 1<<15 | 1)
		if sum&everyLane != 0 {
			return false
		}
	}
	return true
}

func load64(p unsafe.Pointer) uint64 { return binary.LittleEndian.Uint64((*[8]byte)(p)[:]) }

// blockSums returns what they add up to, a bit for every column.
func (s *ribbonShape) blockSums(filter []byte, block int, band uint64) (sums uint64) {
	for j := range s.columns {
		sum := uint16(0)
		for b := range ribbonWindow {
			at := 2 * ((block+b)*s.columns + j)
			sum ^= binary.LittleEndian.Uint16(filter[at:]) & uint16(band>>(b*ribbonBlock))
		}
		sums |= uint64(bits.OnesCount16(sum)&1) << j
	}
	return sums
}
