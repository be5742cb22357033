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
	block, limits := 0, s.limits
	for layer := range len(s.upper) / 3 {
		n := s.upperBlocks(layer)
		start := startOf(x, n)
		bucket := start / ribbonBucket
		if start%ribbonBucket >= int(filter[limits+bucket/2]>>(bucket%2*4)&15) {
			block += start
			return s.upperContains(filter, block, printOf(x), bandOf(x))
		}
		block += n
		limits += limitBytes(n)
		x = mix(x, 0)
	}
	k := s.lastKey(x)
	k.tail |= turn(k.print, s.seed) & (1<<s.tail - 1)
	columns := s.columns
	if k.more {
		columns++
	}
	if s.band == 0 {
		return s.tailSums(filter, k.tail, k.print, columns, min(4, columns))&(1<<columns-1) == 0
	}
	block += k.start
	print := s.tailSums(filter, k.tail, k.print, columns, columns)
	return s.blocksContain(filter, block, print, k.band) && (!k.more ||
		lastSum(filter, s.flat+columns*s.tail+k.start*ribbonBlock, k.band, print>>s.columns))
}

// upperContains answers for a key whose window begins at a block of an upper layer.
func (s *ribbonShape) upperContains(filter []byte, block int, print, band uint64) bool {
	if !s.blocksContain(filter, block, print, band) {
		return false
	}
	slot := s.last + block*ribbonBlock
	return slot+ribbonWindow*ribbonBlock > s.part ||
		lastSum(filter, s.flat+s.columns*s.tail+slot, band, print>>s.columns)
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

// tailSums returns the difference of print and what the slots of the tail add up to, a bit for
// every column. It looks at the first columns before the others, and not at these if there is a
// difference.
func (s *ribbonShape) tailSums(filter []byte, tail, print uint64, columns, first int) uint64 {
	bit := s.flat
	if tail>>57 != 0 { // there may be 9 bytes with bits of the window
		for j := range columns {
			print ^= parity(window(filter, bit)&tail) << j
			bit += s.tail
		}
		return print
	}
	last := len(filter) - 8
	at := unsafe.Pointer(unsafe.SliceData(filter))
	for j := 0; ; {
		for ; j < first; j++ {
			i := min(bit>>3, last)
			w := load64(unsafe.Add(at, i)) >> (uint(bit-8*i) & 63)
			print ^= parity(w&tail) << (j & 63)
			bit += s.tail
		}
		if j == columns || print&15 != 0 {
			return print
		}
		first = columns
	}
}

const everyLane = 1<<48 | 1<<32 | 1<<16 | 1

// blocksContain reports whether the slots from a block on with the coefficients of band add up to
// print in the columns that all slots have. Four columns are added at once, in lanes of 16 bits.
func (s *ribbonShape) blocksContain(filter []byte, block int, print, band uint64) bool {
	if s.columns < 4 {
		return (s.blockSums(filter, block, band)^print)&(1<<s.columns-1) == 0
	}
	b0 := band & 0xffff * everyLane
	b1 := band >> 16 & 0xffff * everyLane
	b2 := band >> 32 & 0xffff * everyLane
	b3 := band >> 48 * everyLane
	stride := uintptr(2 * s.columns)
	// All of the window is in the filter: block is at most the layer's blocks less ribbonWindow.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), uintptr(block)*stride)
	for j := 0; ; {
		p := unsafe.Add(at, 2*j)
		sum := load64(p)&b0 ^ load64(unsafe.Add(p, stride))&b1 ^
			load64(unsafe.Add(p, 2*stride))&b2 ^ load64(unsafe.Add(p, 3*stride))&b3
		sum ^= sum >> 8
		sum ^= sum >> 4
		sum ^= sum >> 2
		sum ^= sum >> 1
		// The parities are at bits 0, 16, 32, 48, and so are now the bits of print.
		sum ^= print >> j & 15 * (1<<45 | 1<<30 | 1<<15 | 1)
		if sum&everyLane != 0 {
			return false
		}
		if j += 4; j >= s.columns {
			return true
		}
		j = min(j, s.columns-4)
	}
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
