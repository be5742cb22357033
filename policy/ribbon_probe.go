package policy

import (
	"encoding/binary"
	"math"
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
	x := keyHash(key) // overlaps the division
	n := len(filter) - trailerTail - 2
	if n >= 4 && n < 1<<20 && filter[n]-1 < ribbonDense { // all parameters fit into registers
		if filter[n]^filter[n+1]^filter[n+2] != lengthCheck(n)^byte(EncodingRibbon) {
			return true
		}
		room, last := uint32(8*n), uint32(filter[n])
		columns := room / last
		part := room - columns*last
		return columns-1 >= ribbonColumns ||
			denseContains(filter, x, 0, int(last), int(columns), int(part), filter[n+1])
	}
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
		n := upperBlocks(u)
		start := startOf(x, n)
		if !isBumped(filter[bumps+int(uint(start)/ribbonBucket)], start) {
			block += start
			print, band := printOf(x), bandOf(x)
			if !s.blocksContain(filter, block, print, band) {
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
	if s.band == 0 {
		return denseContains(filter, x, s.flat, s.last, s.columns, s.part, s.seed)
	}
	return s.lastContains(filter, x, block)
}

// denseContains reports whether a key that hash x brings to a last layer without a band may be in
// the filter. The arguments are as in a ribbonShape. A miss leaves after four columns, 15 times
// of 16. To leave after each column would cost a wrong prediction in nearly every miss.
func denseContains(filter []byte, x uint64, flat, last, columns, part int, seed byte) bool {
	x = lastHash(x, seed)
	print := printOf(x)
	more, tail := ^uint64(0), (tailOf(x)&^3|turn(print, seed))&(^uint64(0)>>(-last&63))
	if part < last { // without a branch that depends on the key
		more = favours(x, last, max(0, part-2-(last-part)/8))
		tail &= 1<<(part&63) - 1 | ^more
	}
	bit, differs := flat, uint64(0) // in bit 0
	for j := range columns {
		differs |= parity(window(filter, bit, last > 57)&tail) ^ print
		if j == 3 && differs&1 != 0 {
			return false
		}
		print >>= 1
		bit += last
	}
	differs |= (parity(window(filter, bit, true)&tail) ^ print) & more
	return differs&1 == 0
}

// tailLanes returns, for four columns of a tail from a bit on, 16 bits that add up to the same as
// the slots with the coefficients in tail.
func tailLanes(filter []byte, bit, slots int, tail uint64) uint64 {
	wide := slots > 57
	w0 := window(filter, bit, wide) & tail
	w1 := window(filter, bit+slots, wide) & tail
	w2 := window(filter, bit+2*slots, wide) & tail
	w3 := window(filter, bit+3*slots, wide) & tail
	even := (w0^w0>>32)&math.MaxUint32 | (w2^w2<<32)&^math.MaxUint32
	odd := (w1^w1>>32)&math.MaxUint32 | (w3^w3<<32)&^math.MaxUint32
	const half = 0xffff<<32 | 0xffff
	return (even^even>>16)&half | (odd^odd<<16)&^half
}

// lastContains answers for a key of the last layer, whose blocks begin at the given one. As in
// blocksContain, four columns are added at once; a miss leaves after them, 15 times of 16.
func (s *ribbonShape) lastContains(filter []byte, x uint64, block int) bool {
	print, band, tail, more, start := s.lastKey(lastHash(x, s.seed))
	b0, b1, b2, b3 := inLanes(band)
	slots, columns := s.tail, s.columns
	stride := 2 * columns
	at, inBlocks := 2*(block+start)*columns, columns >= 4
	if !inBlocks {
		print ^= s.blockSums(filter, block+start, band)
	}
	for j := 0; j < columns; j += 4 {
		j = max(0, min(j, columns-4))
		sum := tailLanes(filter, s.flat+j*slots, slots, tail)
		if inBlocks {
			p := unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), at+2*j)
			sum ^= load64(p)&b0 ^ load64(unsafe.Add(p, stride))&b1 ^
				load64(unsafe.Add(p, 2*stride))&b2 ^ load64(unsafe.Add(p, 3*stride))&b3
		}
		if differ(sum, print>>(j&63))&(1<<(16*min(columns, 4))-1) != 0 {
			return false
		}
	}
	bit := s.flat + columns*slots
	sum := window(filter, bit, true)&tail ^ window(filter, bit+slots+start*ribbonBlock, true)&band
	return (parity(sum)^print>>(columns&63))&more&1 == 0
}

// lastSum reports whether slots of the last column add up to bit 0 of print.
// REQUIRES: all 64 are in the payload. The byte that is loaded after them is in the filter too.
func lastSum(filter []byte, bit int, band, print uint64) bool {
	p, shift := unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), bit>>3), bit&7
	sum := load64(p)&(band<<shift) ^ uint64(*(*byte)(unsafe.Add(p, 8)))&(band>>1>>(63-shift))
	return parity(sum)^print&1 == 0
}

func parity(x uint64) uint64 { return uint64(bits.OnesCount64(x) & 1) }

// window returns bits from the given one on: 64 if it is wide, otherwise at least 57. Bits behind
// the filter's are any: no byte outside is read, wherever the given one is.
// REQUIRES: the filter has 8 bytes or more, and bit is not negative.
func window(filter []byte, bit int, wide bool) uint64 {
	i := min(bit>>3, len(filter)-8)
	w := load64(unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), i)) >> (uint(bit-8*i) & 63)
	if wide {
		w |= uint64(filter[min(i+8, len(filter)-1)]) << (64 - uint(bit-8*i))
	}
	return w
}

const everyLane = 1<<48 | 1<<32 | 1<<16 | 1

// inLanes returns the coefficients of four blocks, in four lanes each.
func inLanes(band uint64) (b0, b1, b2, b3 uint64) {
	return band & 0xffff * everyLane, band >> 16 & 0xffff * everyLane,
		band >> 32 & 0xffff * everyLane, band >> 48 * everyLane
}

// differ returns in every lane whether its parity is not the bit of print.
func differ(sum, print uint64) uint64 {
	sum ^= sum >> 8
	sum ^= sum >> 4
	sum ^= sum >> 2
	sum ^= sum >> 1
	// The parities are at bits 0, 16, 32, 48, and so are now the bits of print.
	return (sum ^ print&15*(1<<45|1<<30|1<<15|1)) & everyLane
}

// blocksContain reports whether the slots from a block on with the coefficients of band add up to
// print in the columns that all slots have. Four columns are added at once, in lanes of 16 bits.
func (s *ribbonShape) blocksContain(filter []byte, block int, print, band uint64) bool {
	if s.columns < 4 {
		return (s.blockSums(filter, block, band)^print)&(1<<s.columns-1) == 0
	}
	b0, b1, b2, b3 := inLanes(band)
	stride := uintptr(2 * s.columns)
	// All of the window is in the filter: block is at most the layer's blocks less ribbonWindow.
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(filter)), uintptr(block)*stride)
	for j := 0; j < s.columns; j += 4 {
		j = min(j, s.columns-4)
		p := unsafe.Add(at, 2*j)
		sum := load64(p)&b0 ^ load64(unsafe.Add(p, stride))&b1 ^
			load64(unsafe.Add(p, 2*stride))&b2 ^ load64(unsafe.Add(p, 3*stride))&b3
		if differ(sum, print>>(j&63)) != 0 {
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
