package policy

import (
	"encoding/binary"
	"math/bits"
)

const (
	ribbonByte    = 0x72 // 'r'
	ribbonBlock   = 16   // slots in a block; a key's window begins at a block
	ribbonWindow  = 4    // blocks in a window
	ribbonBucket  = 8    // starts that share a threshold
	ribbonDense   = 64   // slots up to which a last layer is a tail alone
	ribbonLastMax = 2000 // keys up to which there is a last layer alone
	ribbonColumns = 40   // whole columns at most; a part of one more is possible
	ribbonLayers  = 8    // layers before the last one at most
	ribbonSeeds   = 256
	maxRibbonKeys = 1 << 28 // so that 3 bytes hold a number of blocks

	// The parameter that tells the shape, the last byte before the check byte and the seed: up to
	// ribbonExact the last layer's slots; from ribbonWide on with the bits above the byte before;
	// from ribbonDeep on the number of layers before the last one.
	ribbonExact = 127
	ribbonWide  = 128
	ribbonDeep  = 240
)

// A ribbonShape says what lies where in a ribbon filter.
type ribbonShape struct {
	nblocks [ribbonLayers]int // of the layers before the last one
	layers  int               // how many these are
	last    int               // slots of the last layer
	band    int               // blocks of the last layer; its other slots are the tail
	tail    int
	seed    uint64

	columns int // whole ones
	part    int // slots that the next column has
	blocks  int // of all layers
	payload int // bytes
	limits  int // offset of the thresholds
	flat    int // offset in bits of the tail's columns
	nibbles int // bytes of thresholds
}

// bandBlocks returns how many of the slots of a last layer are in blocks. The tail has the other
// 1 to 64, usually 40 to 55.
func bandBlocks(slots int) int {
	if slots <= ribbonDense {
		return 0
	}
	return ribbonWindow + max(0, slots-104)/ribbonBlock
}

// trailer returns the size of the parameters, the check byte and the encoding byte.
func (s *ribbonShape) trailer() int {
	n := 4 // shape, seed, check, encoding
	if s.layers > 0 {
		n += 1 + 3*s.layers
	}
	if s.last > ribbonExact {
		n++
	}
	return n
}

// fit sets what follows from the layers and from the size of the payload. It reports whether
// that is possible.
func (s *ribbonShape) fit(payload int) bool {
	s.band = bandBlocks(s.last)
	s.tail = s.last - s.band*ribbonBlock
	s.blocks, s.nibbles = s.band, 0
	for _, n := range s.nblocks[:s.layers] {
		s.blocks += n
		s.nibbles += nibbleBytes(n)
	}
	s.payload = payload
	slots, room := s.blocks*ribbonBlock+s.tail, uint64(max(0, payload-s.nibbles))*8
	s.columns = int(room / uint64(slots))
	s.part = int(room % uint64(slots))
	s.limits = 2 * s.columns * s.blocks
	s.flat = 8 * (s.limits + s.nibbles)
	return s.columns >= 1 && s.columns <= ribbonColumns
}

// parseRibbon reads the trailer of a filter whose last byte is ribbonByte. It reports false if it
// is no such filter as a writer may have written: then it may contain everything.
func parseRibbon(filter []byte, s *ribbonShape) bool {
	n := len(filter) - 4
	if n < 1 {
		return false
	}
	s.layers = 0
	s.seed = uint64(filter[n+1])
	shape := int(filter[n])
	if shape >= ribbonDeep {
		s.layers = shape - ribbonDeep
		n -= 1 + 3*s.layers
		if n < 1 || s.layers < 1 || s.layers > ribbonLayers {
			return false
		}
		shape = int(filter[n])
		for i := range s.layers {
			at := filter[n+1+3*i:]
			s.nblocks[i] = int(at[0]) | int(at[1])<<8 | int(at[2])<<16
			if s.nblocks[i] < ribbonWindow {
				return false
			}
		}
	}
	if shape > ribbonExact {
		n--
		if n < 1 || shape >= ribbonDeep {
			return false
		}
		shape = (shape-ribbonWide)<<8 | int(filter[n])
	}
	s.last = shape
	return shape >= 1 && s.fit(n)
}

// putTrailer writes the trailer after the payload.
func (s *ribbonShape) putTrailer(filter []byte) {
	t := filter[:s.payload]
	first := s.last
	if s.last > ribbonExact {
		t = append(t, byte(s.last))
		first = ribbonWide | s.last>>8
	}
	t = append(t, byte(first))
	if s.layers > 0 {
		for _, n := range s.nblocks[:s.layers] {
			t = append(t, byte(n), byte(n>>8), byte(n>>16))
		}
		t = append(t, byte(ribbonDeep+s.layers))
	}
	t = append(t, byte(s.seed))
	check := byte(uint32(s.payload)*0x9e3779b1>>24) ^ ribbonByte
	for _, b := range t[s.payload:] {
		check ^= b
	}
	_ = append(t, check, ribbonByte)
}

// checked reports whether the check byte is right.
func (s *ribbonShape) checked(filter []byte) bool {
	sum := byte(uint32(s.payload) * 0x9e3779b1 >> 24)
	for _, b := range filter[s.payload:] {
		sum ^= b
	}
	return sum == 0
}

// A ribbonKey is what a key's hash says in one layer: the key's equations are, for every column
// that it has, that the slots with coefficients (bit i of band is that of slot start*ribbonBlock+i
// of the layer's blocks, bit i of tail that of slot i of the tail) add up to its bit of print.
type ribbonKey struct {
	start             int
	band, tail, print uint64
	more              bool // it has the column of which there is a part
}

func ribbonMix(x, k uint64) uint64 {
	x += k * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

func ribbonBand(x uint64) uint64 { return (x ^ x>>32) * 0xbf58476d1ce4e5b9 }
func ribbonTail(x uint64) uint64 {
	x = bits.ReverseBytes64(x) * 0x94d049bb133111eb
	return x ^ x>>32
}
func ribbonPrint(x uint64) uint64 { return x * 0xff51afd7ed558ccd >> 23 }

// startOf returns the key's start in a layer of n blocks.
func startOf(x uint64, n int) int { return int(x >> 32 * uint64(n-ribbonWindow+1) >> 32) }

// lastKey returns what x says in the last layer.
func (s *ribbonShape) lastKey(x uint64) (k ribbonKey) {
	if s.seed != 0 {
		x = ribbonMix(x, s.seed)
	}
	k.band = ribbonBand(x)
	k.tail = ribbonTail(x)
	k.print = ribbonPrint(x)
	k.tail &= 1<<s.tail - 1
	part := min(s.part, s.last)
	favoured := part
	if part < s.last {
		favoured -= 2 + (s.last-part)/8
	}
	k.more = int(x>>32*uint64(s.last)>>32) < favoured
	if s.band == 0 {
		k.band = 0
		if k.more {
			k.tail &= 1<<part - 1
		}
		return k
	}
	k.start = startOf(x, s.band)
	if inBand := part - s.tail; inBand <= 0 {
		k.more = false
	} else if k.more {
		k.start = min(k.start, max(0, (inBand+ribbonBlock-1)/ribbonBlock-ribbonWindow))
		if room := inBand - k.start*ribbonBlock; room < 64 {
			k.band &= 1<<room - 1
		}
	}
	return k
}

// layerMore reports whether a key has the column of which there is a part, if its window begins
// at a block of a layer before the last one.
func (s *ribbonShape) layerMore(block int) bool {
	return s.last+(block+ribbonWindow)*ribbonBlock <= s.part
}

// limit returns the threshold of a bucket: so many of its starts are bumped to the next layer.
func limit(limits []byte, bucket int) int {
	return int(limits[bucket/2]>>(bucket%2*4)) & 15
}

// window returns the 64 bits from bit on; those behind the end of b are 0.
func window(b []byte, bit int) uint64 {
	i := bit / 8
	if i+9 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:])>>(bit%8) | uint64(b[i+8])<<(64-bit%8)
	}
	var last [9]byte
	copy(last[:], b[i:])
	return binary.LittleEndian.Uint64(last[:])>>(bit%8) | uint64(last[8])<<(64-bit%8)
}

// nibbleBytes returns how many bytes the thresholds of a layer of n blocks take.
func nibbleBytes(n int) int {
	return (n - ribbonWindow + 2*ribbonBucket) / (2 * ribbonBucket)
}
