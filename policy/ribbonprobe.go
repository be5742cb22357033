package policy

import (
	"encoding/binary"
	"math/bits"
)

// MayContain reports whether key may have been added to filter. It answers as the function
// [MayContain].
func (*Ribbon) MayContain(filter, key []byte) bool {
	if len(filter) < 2 || filter[len(filter)-1] != ribbonByte {
		return MayContain(filter, key)
	}
	var s ribbonShape
	return !parseRibbon(filter, &s) || s.contains(filter, keyHash(key))
}

// contains reports whether the key with hash x may be in the filter.
func (s *ribbonShape) contains(filter []byte, x uint64) bool {
	first, at := 0, s.limits
	for _, n := range s.nblocks[:s.layers] {
		start := startOf(x, n)
		bucket := start / ribbonBucket
		if start%ribbonBucket >= limit(filter[at:], bucket) {
			print, band := ribbonPrint(x), ribbonBand(x)
			if !s.blocksMatch(filter, first+start, band, print) {
				return false
			}
			if !s.layerMore(first + start) {
				return true
			}
			slot := s.last + (first+start)*ribbonBlock
			sum := window(filter, s.flat+s.tail*s.columns+slot) & band
			return parity(sum) == print>>s.columns&1
		}
		x = ribbonMix(x, 1)
		first += n
		at += nibbleBytes(n)
	}
	k := s.lastKey(x)
	columns := s.columns
	print := k.print
	bit := s.flat
	if s.band > 0 {
		print ^= s.blocksSum(filter, first+k.start, k.band)
	}
	for j := range columns {
		if parity(window(filter, bit)&k.tail) != print>>j&1 {
			return false
		}
		bit += s.tail
	}
	if !k.more {
		return true
	}
	sum := parity(window(filter, bit) & k.tail)
	if s.band > 0 {
		sum ^= parity(window(filter, bit+s.tail+k.start*ribbonBlock) & k.band)
	}
	return sum == print>>columns&1
}

func parity(x uint64) uint64 { return uint64(bits.OnesCount64(x) & 1) }

const ones16 = 1<<48 | 1<<32 | 1<<16 | 1

// blocksMatch reports whether the slots from block start on with the coefficients of band add up
// to print, in all whole columns.
func (s *ribbonShape) blocksMatch(filter []byte, start int, band, print uint64) bool {
	stride := 2 * s.columns
	at := filter[start*stride:][:4*stride]
	if s.columns < 4 {
		return (s.blocksSum(filter, start, band)^print)&(1<<s.columns-1) == 0
	}
	b0 := band & 0xffff * ones16
	b1 := band >> 16 & 0xffff * ones16
	b2 := band >> 32 & 0xffff * ones16
	b3 := band >> 48 * ones16
	for j := 0; ; {
		i := 2 * j
		sum := binary.LittleEndian.Uint64(at[i:])&b0 ^
			binary.LittleEndian.Uint64(at[i+stride:])&b1 ^
			binary.LittleEndian.Uint64(at[i+2*stride:])&b2 ^
			binary.LittleEndian.Uint64(at[i+3*stride:])&b3
		sum ^= print >> j & 15 * (1<<45 | 1<<30 | 1<<15 | 1) & ones16
		sum ^= sum >> 8
		sum ^= sum >> 4
		sum ^= sum >> 2
		sum ^= sum >> 1
		if sum&ones16 != 0 {
			return false
		}
		if j += 4; j >= s.columns {
			return true
		}
		j = min(j, s.columns-4)
	}
}

// blocksSum returns what they add up to, a column a bit.
func (s *ribbonShape) blocksSum(filter []byte, start int, band uint64) (sums uint64) {
	stride := 2 * s.columns
	at := filter[start*stride:]
	for j := range s.columns {
		var sum uint16
		for b := range ribbonWindow {
			sum ^= binary.LittleEndian.Uint16(at[b*stride+2*j:]) & uint16(band>>(b*ribbonBlock))
		}
		sums |= uint64(bits.OnesCount16(sum)&1) << j
	}
	return sums
}
