package ribbon

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// A second implementation, plain and slow. It follows the text of FORMAT.md, with the names used
// there, and shares only the type row with the package.

// refEquation returns the equation of a key: bit i of coeffs is the coefficient of slot 8*start+i.
// If the key varies, fp also has its variant bits.
func refEquation(x uint64, seed, m int) (start int, coeffs, fp uint64) {
	u, v := bits.Mul64(x, refMultiplier(seed))
	f := u ^ v
	last := max(0, m-57) / 8
	d := int(int64(f>>52)*int64(last+7)/4096) - 3
	start = min(max(d, 0), last)
	v >>= max(0, 8*start+64-m)
	for i := range 64 {
		c := v >> i & 1
		if d < 0 && i < 4 {
			c ^= f >> (41 + seed%8 + i) & 1
		}
		if 8*start+i < m {
			coeffs |= c << i
		}
	}
	if d < 0 {
		return start, coeffs, f % (1 << 52)
	}
	return start, coeffs, f % (1 << 41)
}

func refMultiplier(seed int) uint64 {
	return 0x9e3779b97f4a7c15*uint64(seed/8*8+7) | 0xff00000000000000
}

// refSolve returns the values of m slots: bit j is the slot's bit in column j.
func refSolve(hashes []uint64, seed, m int) (values []uint64, ok bool) {
	pivots := make([]row, m) // by last slot, which is bit 63 of coeffs; coeffs 0: none
	for _, hash := range hashes {
		start, coeffs, fp := refEquation(hash, seed, m)
		slot := 8*start + 63
		for coeffs != 0 {
			zeros := bits.LeadingZeros64(coeffs)
			slot, coeffs = slot-zeros, coeffs<<zeros
			if pivots[slot].coeffs == 0 {
				pivots[slot] = row{coeffs, fp}
				break
			}
			coeffs ^= pivots[slot].coeffs
			fp ^= pivots[slot].fp
		}
		if coeffs == 0 && fp != 0 {
			return nil, false
		}
	}
	values = make([]uint64, m)
	for slot, p := range pivots {
		values[slot] = p.fp
		for i := 1; i < 64 && i <= slot; i++ {
			values[slot] ^= values[slot-i] * (p.coeffs >> (63 - i) & 1)
		}
	}
	return values, true
}

// A refShard is the layout of a shard.
type refShard struct{ p, m, g, k, b, r, c, q int }

func newRefShard(p, m int) refShard {
	s := refShard{p: p, m: m, g: p / m, k: 8 * (p % m) / m, b: m / 8, r: m % 8}
	s.c = 8*s.g + s.k
	s.q = max(0, p-s.g*m-s.k*s.b-((s.k+1)*s.r+7)/8)
	return s
}

// bit returns where in the shard a slot's bit in column j is.
func (s refShard) bit(slot, j int) int {
	if j < 8*s.g {
		group, j := 8*s.m*(j/8), j%8
		if slot/8 < s.b {
			return group + 64*(slot/8) + 8*j + slot%8
		}
		return group + 64*s.b + 8*(slot%8) + j
	}
	j -= 8 * s.g
	if slot/8 < s.b {
		return 8*(s.g*s.m+j*s.b) + slot
	}
	return 8*s.p - (j+1)*s.r + slot%8
}

func (s refShard) contains(shard []byte, seed int, x uint64) bool {
	if seed == 63 {
		return !slices.ContainsFunc(refBloomBits(s.p, s.m, x), func(bit uint64) bool {
			return shard[bit/8]>>(bit%8)&1 == 0
		})
	}
	start, coeffs, fp := refEquation(x, seed, s.m)
	columns := s.c
	if start+8 <= s.q {
		columns++
	}
	for j := range columns {
		sum := byte(fp >> j & 1)
		for i := range 64 {
			if coeffs>>i&1 == 1 {
				bit := s.bit(8*start+i, j)
				sum ^= shard[bit/8] >> (bit % 8) & 1
			}
		}
		if sum != 0 {
			return false
		}
	}
	return true
}

func (s refShard) write(shard []byte, values []uint64) {
	for slot, value := range values {
		for j := range s.c + 1 {
			if j < s.c || slot < 8*s.q {
				bit := s.bit(slot, j)
				shard[bit/8] |= byte(value>>j&1) << (bit % 8)
			}
		}
	}
}

func refCheck(filter []byte) byte {
	check := byte(uint32(len(filter)) * 0x9e3779b1 >> 24)
	for _, b := range filter[len(filter)-8:] {
		check ^= b
	}
	return check
}

// refContains reports whether a key may be in the filter, and whether the filter is well-formed. A
// malformed one may contain every key.
func refContains(filter []byte, x uint64) (contains, fits bool) {
	n := len(filter)
	if n < 12 {
		return true, false
	}
	if word := int(binary.LittleEndian.Uint16(filter[n-4:])); word%1024 != 0 {
		m := word % 1024
		if refCheck(filter) != 0 || m < 8 || newRefShard(n-4, m).c > 40 {
			return true, false
		}
		return newRefShard(n-4, m).contains(filter[:n-4], word/1024, x), true
	}
	count := int64(binary.LittleEndian.Uint32(filter[n-8:]))
	c := int64(filter[n-3] / 4)
	index := int64(n) - 8 - 4*(count+1)
	if refCheck(filter) != 0 || count == 0 || index < 0 || c > 40 {
		return true, false
	}
	entry := func(i int64) int64 { return int64(binary.LittleEndian.Uint32(filter[index+4*i:])) }
	w := index - c*(entry(count)/64)
	i := int64(x % (1 << 32) * uint64(count) >> 32)
	first, next := entry(i)/64, entry(i+1)/64
	if w < 0 || next < first+8 || next > entry(count)/64 {
		return true, false
	}
	from, to := c*first+min(first, w), c*next+min(next, w)
	s := newRefShard(int(to-from), int(8*(next-first)))
	return s.contains(filter[from:to], int(entry(i)%64), x), true
}

func refBuild(hashes []uint64, bitsPerKey float64) []byte {
	n := len(hashes)
	m := max(8, n)
	payload := max(8, int(math.Ceil(float64(m)*bitsPerKey)+7)/8)
	if n <= 700 {
		if s := newRefShard(payload, m); s.q < 8 {
			payload = max(8, (s.c*m+7)/8)
		}
		filter := make([]byte, payload+4)
		seed := refBuildShard(filter[:payload], hashes, m)
		binary.LittleEndian.PutUint16(filter[payload:], uint16(m+1024*seed))
		filter[payload+3] = 0x73
		filter[payload+2] = refCheck(filter)
		return filter
	}
	count := max(2, (n+250)/500)
	index := payload - 4*(count+1)
	filter := make([]byte, payload+8)
	shards := make([][]uint64, count)
	for _, x := range hashes {
		i := x % (1 << 32) * uint64(count) >> 32
		shards[i] = append(shards[i], x)
	}
	octets := []int{0}
	for i, hashes := range shards {
		octets = append(octets, octets[i]+max(8, (len(hashes)+7)/8))
	}
	c := min(40, index/octets[count])
	w := index - c*octets[count]
	for i, hashes := range shards {
		first, next := octets[i], octets[i+1]
		shard := filter[c*first+min(first, w) : c*next+min(next, w)]
		seed := refBuildShard(shard, hashes, 8*(next-first))
		binary.LittleEndian.PutUint32(filter[index+4*i:], uint32(64*first+seed))
	}
	binary.LittleEndian.PutUint32(filter[index+4*count:], uint32(64*octets[count]))
	binary.LittleEndian.PutUint32(filter[payload:], uint32(count))
	filter[payload+5] = byte(4 * c)
	filter[payload+7] = 0x73
	filter[payload+6] = refCheck(filter)
	return filter
}

// refBuildShard writes a shard of m slots, whose bytes are 0, and returns its seed.
func refBuildShard(shard []byte, hashes []uint64, m int) (seed int) {
	for seed := range 56 {
		if values, ok := refSolve(hashes, seed, m); ok && len(hashes) <= 1000 {
			newRefShard(len(shard), m).write(shard, values)
			return seed
		}
	}
	for _, x := range hashes {
		for _, bit := range refBloomBits(len(shard), m, x) {
			shard[bit/8] |= 1 << (bit % 8)
		}
	}
	return 63
}

// refBloomBits returns the bits of a key in a shard that is a Bloom filter.
func refBloomBits(size, m int, x uint64) (at []uint64) {
	hi, v := bits.Mul64(x, refMultiplier(63))
	y := hi ^ v
	for range (11*size + m) / (2 * m) {
		bit, _ := bits.Mul64(y, uint64(8*size))
		at = append(at, bit)
		y += v
	}
	return at
}
