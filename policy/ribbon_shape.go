package policy

import "math"

const (
	ribbonBlock   = 16   // slots of a block; a window begins at a block
	ribbonWindow  = 4    // blocks of a window
	ribbonBucket  = 15   // starts that share a byte of bumps
	ribbonDense   = 64   // slots up to which a last layer is a tail alone
	ribbonLastMax = 2000 // keys up to which the last layer is the only one
	ribbonColumns = 40   // whole columns at most; a part of one more is possible
	ribbonLayers  = 8    // upper layers at most
	maxRibbonKeys = 1 << 28
	// so that an int can express a number of bits
	maxRibbonPayload = math.MaxInt / 16

	// The byte that tells the shape is the number of slots of the last layer, if that is less than
	// ribbonWide; ribbonWide and its bits above the byte before; or ribbonDeep and the number of
	// upper layers, which are described by the bytes before.
	ribbonWide = 128
	ribbonDeep = 240
)

// A ribbonShape says what lies where in a ribbon filter.
type ribbonShape struct {
	upper []byte // of every upper layer, the number of blocks, 3 bytes
	last  int    // slots of the last layer
	band  int    // those of them that are in blocks
	tail  int    // the others
	seed  byte

	payload int // bytes
	blocks  int // of all layers
	columns int // that all slots have
	part    int // slots that have one column more
	bumps   int // offset of the bumps
	flat    int // offset in bits of the tail and of the last column; before fit, bytes of bumps
}

// upperBlocks returns the number of blocks of the first upper layer of some.
func upperBlocks(u []byte) int { return int(u[0]) | int(u[1])<<8 | int(u[2])<<16 }

// bumpBytes returns how many bytes say which starts of a layer of n blocks are bumped.
func bumpBytes(n int) int {
	return int(uint(n-ribbonWindow+ribbonBucket) / ribbonBucket) // unsigned needs no correction
}

// isBumped reports whether the keys of a start are in a later layer. b is the byte of its bucket.
func isBumped(b byte, start int) bool {
	one, two := b&15, b>>4
	set := 1<<one | 1<<two
	if one > two {
		set = -1<<one | 1<<two
	}
	return set>>(uint(start)%ribbonBucket+1)&1 != 0
}

// addUpper adds an upper layer of n blocks.
func (s *ribbonShape) addUpper(n int) {
	s.blocks += n
	s.flat += bumpBytes(n)
}

// appendUpper adds it to the parameters too.
func (s *ribbonShape) appendUpper(n int) {
	s.upper = append(s.upper, byte(n), byte(n>>8), byte(n>>16))
	s.addUpper(n)
}

// upperBlocksOf returns the number of blocks of an upper layer that so many keys come to.
func upperBlocksOf(keys int) int { return (keys - keys/24) / ribbonBlock }

// lastSlots returns the number of slots of a last layer of so many keys.
func lastSlots(keys int) int { return max(1, keys+keys/100) }

// fit sets what follows from the layers and the size of the payload in bytes. It reports whether
// a filter can be so.
// REQUIRES: addUpper was called for every upper layer.
func (s *ribbonShape) fit(payload int) bool {
	s.band, s.tail = 0, s.last
	if s.last > ribbonDense {
		s.band = ribbonWindow*ribbonBlock + max(0, s.last-104)&^(ribbonBlock-1)
		s.tail -= s.band
		s.blocks += s.band / ribbonBlock
	}
	s.payload = payload
	slots := uint64(s.blocks)*ribbonBlock + uint64(s.tail)
	room := 8 * uint64(max(0, payload-s.flat))
	var columns uint64
	if (room|slots)>>32 == 0 {
		columns = uint64(uint32(room) / uint32(slots)) // shorter than with 64 bits
	} else {
		columns = room / slots
	}
	s.columns = int(columns)
	s.part = int(room - columns*slots)
	s.bumps = 2 * s.columns * s.blocks
	s.flat = 8 * (s.bumps + s.flat)
	return columns-1 < ribbonColumns
}

// parse reads the trailer of a filter whose last byte is EncodingRibbon. If it returns false, the
// filter is malformed and may contain every key.
func (s *ribbonShape) parse(filter []byte) bool {
	n := len(filter) - trailerTail - 2
	if n < 4 {
		return false
	}
	s.last, s.seed = int(filter[n]), filter[n+1]
	check := filter[n] ^ s.seed ^ filter[n+2]
	if s.last >= ribbonDeep {
		layers := s.last - ribbonDeep
		at := n - 1 - 3*layers
		if at < 4 || layers > ribbonLayers {
			return false
		}
		s.upper, s.last = filter[at+1:n], int(filter[at])
		check ^= filter[at]
		for u := s.upper; len(u) >= 3; u = u[3:] {
			check ^= u[0] ^ u[1] ^ u[2]
			blocks := upperBlocks(u)
			if blocks < ribbonWindow {
				return false
			}
			s.addUpper(blocks)
		}
		n = at
	}
	if s.last >= ribbonWide {
		n--
		s.last = (s.last-ribbonWide)<<8 | int(filter[n])
		check ^= filter[n]
	}
	return check == lengthCheck(n)^byte(EncodingRibbon) && n >= 4 &&
		s.last > 0 && n <= maxRibbonPayload && s.fit(n)
}

// appendParameters appends the trailer's to p.
func (s *ribbonShape) appendParameters(p []byte) []byte {
	if s.last >= ribbonWide {
		p = append(p, byte(s.last), byte(ribbonWide|s.last>>8))
	} else {
		p = append(p, byte(s.last))
	}
	if len(s.upper) > 0 {
		p = append(append(p, s.upper...), byte(ribbonDeep+len(s.upper)/3))
	}
	return append(p, s.seed)
}

// mix returns another hash of hash x.
func mix(x, k uint64) uint64 {
	x += k * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

func printOf(x uint64) uint64 {
	x *= 0xff51afd7ed558ccd
	return x ^ x>>32
}

func bandOf(x uint64) uint64 { return (x ^ x>>32) * 0xbf58476d1ce4e5b9 }

func tailOf(x uint64) uint64 {
	x = (x>>32 | x<<32) * 0x94d049bb133111eb
	return x ^ x>>32
}

// startOf returns the block where the window begins in a layer of n blocks.
func startOf(x uint64, n int) int { return int(x >> 32 * uint64(n-ribbonWindow+1) >> 32) }

// More of the hash is not worth it: for some of the slots of the tail, the coefficients depend on
// the lowest bits of the seed alone, so a writer tries turns of them with one elimination.
const (
	turns     = 8
	turnShift = 41
)

func turn(print uint64, n byte) uint64 { return print >> (turnShift + 2*(n%turns)) & 3 }

// lastHash returns another hash of x for the last layer, if the seed is not among the first.
func lastHash(x uint64, seed byte) uint64 {
	if seed >= turns {
		x = mix(x, uint64(seed/turns))
	}
	return x
}

// favoured returns how many of every s.last keys in the last layer have the last column: if not all
// of its slots have it, these keys must fit into those that do, with some room.
func (s *ribbonShape) favoured() int {
	if s.part >= s.last {
		return s.last
	}
	if s.band > 0 && s.part <= s.tail {
		return 0
	}
	return max(0, s.part-2-min(s.last-s.part, 4*s.tail)/8)
}

// favours returns 1 in all bits if x is for one of the favoured of so many keys, otherwise 0.
func favours(x uint64, last, favoured int) uint64 {
	return uint64(int64(int(x&math.MaxUint32*uint64(last)>>32)-favoured) >> 63)
}

// lastKey returns what lastHash says in the last layer: the print, the coefficients of the band
// from block start on, and of the tail. All bits of more are 1 if the key has the last column,
// which only some slots may have.
func (s *ribbonShape) lastKey(x uint64) (print, band, tail, more uint64, start int) {
	print = printOf(x)
	tail = (tailOf(x)&^3 | turn(print, s.seed)) & (1<<s.tail - 1)
	favoured := s.favoured()
	more = favours(x, s.last, favoured)
	masked := more
	if s.part >= s.last {
		masked = 0
	}
	if s.band == 0 {
		return print, 0, tail & (1<<s.part - 1 | ^masked), more, 0
	}
	band = bandOf(x)
	starts := s.band/ribbonBlock - ribbonWindow + 1
	if favoured == 0 || s.part >= s.last {
		return print, band, tail, more, int(x >> 32 * uint64(starts) >> 32)
	}
	room := s.part - s.tail // slots of the band that have it
	if more == 0 {
		others := min(room/ribbonBlock, starts-1)
		return print, band, tail, more, others + int(x>>32*uint64(starts-others)>>32)
	}
	starts = max(1, (room+ribbonBlock-1)/ribbonBlock-ribbonWindow+1)
	start = int(x >> 32 * uint64(starts) >> 32)
	return print, band & (1<<(room-start*ribbonBlock) - 1), tail, more, start
}

// estimate returns how many keys filters of this shape have, within 3 %, and the share of random
// hashes that the filter contains: each column that a hash has halves it.
func (s *ribbonShape) estimate(payload []byte) (keys, fpp float64) {
	keys = float64(s.last)
	if s.last > ribbonDense {
		keys /= 1.01
	}
	// Of all hashes: those not in the layers so far, and those with one column more.
	left, more := 1.0, 0.0
	block, bumps := 0, payload[s.bumps:]
	for u := s.upper; len(u) > 0; u = u[3:] {
		n := upperBlocks(u)
		if block == 0 {
			keys = float64(n*ribbonBlock) * 24 / 23
		}
		kept := 0
		moreKept := 0
		for start := range n - ribbonWindow + 1 {
			if !isBumped(bumps[start/ribbonBucket], start) {
				kept++
				if s.last+(block+start+ribbonWindow)*ribbonBlock <= s.part {
					moreKept++
				}
			}
		}
		starts := float64(n - ribbonWindow + 1)
		more += left * float64(moreKept) / starts
		left *= 1 - float64(kept)/starts
		block += n
		bumps = bumps[bumpBytes(n):]
	}
	more += left * float64(s.favoured()) / float64(s.last)
	return keys, (1 - more/2) / float64(uint64(1)<<s.columns)
}
