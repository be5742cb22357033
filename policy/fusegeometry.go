package policy

import "math/bits"

// A fuseGeometry says how many cells a filter has, and which of them are a key's.
type fuseGeometry struct {
	segments uint32 // in which a key's first cell may lie: there are two more
	log      uint8  // of the cells per segment, to the base of 2
}

// fuseMaxKeys bounds the keys of a binary fuse filter: its cells have numbers of 32 bits.
const fuseMaxKeys = 1 << 29

// fuseSegmentFrom[i] is the number of keys from which on a segment has 2^(i+3) cells, and not 2^(i+2): the smallest integer
// that is not below 3.33^(i+0.75).
var fuseSegmentFrom = [...]int{3, 9, 28, 92, 304, 1010, 3362, 11193, 37273, 124118, 413310, 1376322, 4583150, 15261887, 50822082, 169237530}

// fuseGeometryOf returns the geometry of a filter of n keys. It is that of github.com/FastFilter/xorfilter, which has been found
// by trial. As the logarithms are computed with integers, all platforms choose the same.
func fuseGeometryOf(n int) fuseGeometry {
	log := uint8(2)
	for _, from := range fuseSegmentFrom {
		if n >= from {
			log++
		}
	}
	segments := (fuseCapacity(uint64(n)) + 1<<log - 1) >> log
	return fuseGeometry{uint32(max(3, segments) - 2), log}
}

// fuseCapacity returns how many cells n keys should have at least: n * max(9/8, 7/8 + ln(1000000)/ln(n)/4), rounded.
func fuseCapacity(n uint64) uint64 {
	const million = 1_000_000
	if n < 2 {
		return 0
	}
	if n >= million {
		return (9*n + 4) / 8
	}
	log := log2(n)
	return (n*(7*log+2*log2(million)) + 4*log) / (8 * log)
}

// log2 returns 2^32 times the logarithm of n, which is at least 1, to the base of 2: digit by digit, since squaring a number
// doubles its logarithm. Less than 2^-30 is lost.
func log2(n uint64) uint64 {
	whole := bits.Len64(n) - 1
	log := uint64(whole)
	x := n << (63 - whole) // 1 to 2, in units of 2^-63
	for range 32 {
		square, _ := bits.Mul64(x, x) // 1 to 4, in units of 2^-62
		digit := square >> 63
		log = log<<1 | digit
		x = square << (1 - digit)
	}
	return log
}

// cells returns the number of cells.
func (g fuseGeometry) cells() uint64 { return (uint64(g.segments) + 2) << (g.log & 63) }

// at returns the geometry for an attempt, counted from 1, to make a filter of n keys. There are sets for which segments of half
// the length are better, and with which all attempts would fail otherwise.
func (g fuseGeometry) at(attempt, n int) fuseGeometry {
	if attempt%4 == 2 && n > 4 && n < 1_000_000 {
		return fuseGeometry{2*g.segments + 2, g.log - 1}
	}
	return g
}

// valid reports whether there can be such a geometry: 18 bits of a hash say where in its segment each of the last two cells is.
func (g fuseGeometry) valid() bool { return g.segments > 0 && g.log-2 <= 16 }

// fusePlaces tells where the cells of keys are.
type fusePlaces struct {
	starts  uint64 // the cells of which a key's first is one
	segment uint64 // cells in each
}

// REQUIRES: g is valid.
func (g fuseGeometry) places() fusePlaces {
	return fusePlaces{uint64(g.segments) << (g.log & 63), 1 << (g.log & 63)}
}

// of returns the cells of a mixed hash, which lie in three segments that follow each other.
func (p fusePlaces) of(x uint64) (c0, c1, c2 uint64) {
	c0, _ = bits.Mul64(x, p.starts) // x is a fraction of 2^64, and c0 the same one of starts
	c1 = (c0 + p.segment) ^ x>>18&(p.segment-1)
	c2 = (c0 + 2*p.segment) ^ x&(p.segment-1)
	return c0, c1, c2
}

// fuseSeeds are the seeds that are tried, one after the other: the numbers of SplitMix64 (Steele, Lea and Flood, 2014) after 1.
type fuseSeeds uint64

func (s *fuseSeeds) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := 1 + uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
