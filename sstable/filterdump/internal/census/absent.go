package census

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
)

const (
	maxLookups = 1 << 17
	maxParts   = 1 << 10

	// Keys often form groups with giant gaps between them ("acct:...", "user:..."), in which nobody
	// looks for keys: a gap counts as one of at most 64 keys.
	maxPerGap = 64
)

// absentKeys returns absent keys between neighbors, in ascending order. Of keys that are neighbors,
// each absent key that counts is as likely to be taken as any other. But the keys are divided into
// parts, and each of these gives as many absent keys, if there are so many: else tables of random
// keys, whose gaps are large, would hide those of keys that are numbers with few gaps.
func absentKeys(keys, next [][]byte, rng *rand.Rand) (all [][]byte) {
	gaps := make([]gap, len(keys))
	for i, key := range keys {
		gaps[i] = between(key, next[i])
		if len(key) != len(next[i]) {
			other := append(bytes.Clone(key), '0') // for neighbors such as URLs
			if bytes.Compare(other, next[i]) < 0 {
				all = append(all, other)
			}
		}
	}
	slices.SortFunc(gaps, func(a, b gap) int { return bytes.Compare(a.low, b.low) })
	for part := range slices.Chunk(gaps, 1+len(gaps)/maxParts) {
		total := uint64(0)
		for _, g := range part {
			total += min(g.len, maxPerGap)
		}
		share := maxLookups * float64(len(part)) / float64(len(gaps)) / float64(total)
		for _, g := range part {
			for n := range min(g.len, maxPerGap) {
				if rng.Float64() >= share {
					continue
				}
				if g.len > maxPerGap {
					n = rng.Uint64N(g.len)
				}
				all = append(all, g.key(n))
			}
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// A gap is the absent keys between two neighbors: the keys that a program with numbers as keys
// would look up. If keys are not numbers, these are as good as random ones. It counts from one
// neighbor to the next where they differ, before a suffix that they share: decimal digits, or else
// bytes.
//
// LevelDB's hash does not scatter keys that differ in few bits, so the false-positive rate of a
// filter depends on which absent keys are looked up. Random ones show the rate of the textbook
// where the neighbors of present keys have twenty times as many false positives.
type gap struct {
	low         []byte // the lower neighbor
	len         uint64 // number of keys; 0 if there are none
	from, to    int    // where the number stands
	zero        byte   // its lowest digit
	base, lower uint64 // its base, and the lower neighbor's number
}

// between returns the gap between two keys. It is empty if they are not of one length, or if low is
// not below high.
func between(low, high []byte) (g gap) {
	g.low = low
	if len(low) != len(high) || bytes.Compare(low, high) >= 0 {
		return g
	}
	for low[g.from] == high[g.from] {
		g.from++
	}
	for g.to = len(low); low[g.to-1] == high[g.to-1]; {
		g.to--
	}
	g.zero, g.base = '0', 10
	isDigit := func(c byte) bool { return '0' <= c && c <= '9' }
	for i := g.from; i < g.to; i++ {
		if !isDigit(low[i]) || !isDigit(high[i]) {
			g.zero, g.base = 0, 256
		}
	}
	most := int(64 / math.Log2(float64(g.base))) // digits that fit
	g.to = min(g.to, g.from+most)
	g.lower = g.number(low)
	g.len = g.number(high) - g.lower - 1
	return g
}

// number returns the number in a key.
func (g *gap) number(key []byte) (n uint64) {
	for _, c := range key[g.from:g.to] {
		n = n*g.base + uint64(c-g.zero)
	}
	return n
}

// key returns key i of the gap. REQUIRES: i < g.len.
func (g *gap) key(i uint64) []byte {
	key, n := bytes.Clone(g.low), g.lower+1+i
	for at := g.to - 1; at >= g.from; at-- {
		key[at] = g.zero + byte(n%g.base)
		n /= g.base
	}
	return key
}
