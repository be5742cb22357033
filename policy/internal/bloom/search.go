package bloom

import (
	"math/bits"
	"slices"

	"github.com/levelbloom/levelbloom/policy/internal/rate"
)

// manyKeys is from how many keys on filters get a choice that is good for all keys.
const manyKeys = 1 << 15

// Choice returns the first choice of the size and k of a filter of n keys, and the largest size.
func (s *Setting) Choice(n int) (size, largest uint64, k int) {
	size, k = s.Size(n), s.K()
	largest = size + uint64(float64(size)*s.Tuning)
	if s.Tuning > 0 && n >= manyKeys {
		size, k = choiceForMany(size, largest, k)
	}
	return size, largest, k
}

// choiceForMany returns the size and k of a filter of many keys, for LevelDB's size and k.
//
// Probe 2 takes few values (see [rate.Bloom]), so it rules out few absent keys here. Two more
// probes make up for it, and the size matters for random keys too: at 10 bits per key, the FPP
// goes from 1.4 to 1.0 % with 50,000 of them, and from 2.1 to 1.1 % with 150,000.
func choiceForMany(size, largest uint64, k int) (uint64, int) {
	for s := size; s <= largest; s++ {
		if spreads(s - 1) {
			size = s
			break
		}
	}
	if k > 2 { // otherwise there is no probe 2
		k = min(k+2, MaxProbes)
	}
	return size, k
}

// spreads reports whether few probes of neighbors coincide in an array of this many bytes.
//
// Neighbors differ in their last characters, the high bytes of the last word that the hash takes.
// So only the top bits of the product differ, x of them, and through h ^ h>>16 and delta, probes j
// of two neighbors lie about x*65537*(2+j)/2 apart. Each factor of 2 in the number of bytes hides
// one bit of x: arrays of 2^n bytes are the worst. Modulo a divisor of 255 = 3 * 5 * 17, where 256
// equals 1, all bytes of a hash count alike, and a difference in one cancels a difference in
// another; 3 and 5 alone are too small to matter.
func spreads(bytes uint64) bool {
	return bytes%2 != 0 && bytes%15 != 0 && bytes%17 != 0
}

// asExpected reports whether absent keys are false positives of a filter of LevelDB's choice about
// as often as random ones.
func (b *tuningBuilder) asExpected(filter []byte) bool {
	absent := b.absent.hashes
	found := countFound(NewBits(filter), b.setting.K(), absent, len(absent))
	return float64(found) <= 1.5*b.expected(filter)*float64(len(absent))
}

// expected returns the textbook's FPP of a filter of all keys.
func (b *tuningBuilder) expected(filter []byte) float64 {
	last := len(filter) - 1
	return rate.Textbook(float64(b.Len()), float64(8*last), int(filter[last]))
}

// search returns the best of some filters of the same keys, the first one included: of a few sizes,
// each with several ks, as a filter with one more probe is soon made of one with fewer.
//
// Binary counters need a small k: those that differ only in their last byte have the same h%8 and
// delta%8, so in every size their probes reach only 8, 4, 2 or 1 bits of each byte.
func (b *tuningBuilder) search(first []byte, largest int) []byte {
	between := b.absent.hashes
	b.absent.addBeyond(max(8, min(b.Len()/2, maxNeighbors)))
	beyond := b.absent.hashes[len(between):]

	best, bestScore := first, score(first, NewBits(first), between, beyond, 4)
	enough := b.expected(first) // of three rates together
	var memory [3]int
	some := max(1, min(len(memory), 9-bits.Len(uint(len(b.absent.hashes))))) // the more, the slower
	least := int(b.setting.Size(b.Len()))
	for _, size := range filterSizes(memory[:0:some], least-least/12, largest) {
		filter := slices.Grow(b.trial[:0], size)[:size]
		b.trial = filter
		clear(filter)
		array := NewBits(filter)
		k, most := max(1, b.setting.K()-4), min(b.setting.K()+3, MaxProbes)
		filter[size-1] = byte(k)
		for b.keys.fill(filter); k <= most; k++ {
			if s := score(filter, array, between, beyond, bestScore); s < bestScore {
				b.best = append(b.best[:0], filter...)
				best, bestScore = b.best, s
			}
			if bestScore <= enough {
				return best
			}
			b.keys.fillOne(filter, k)
			filter[size-1]++
		}
	}
	return best
}

// filterSizes appends sizes of filters to dst, as many as it has room for: those that spread before
// others, and large ones before small ones.
func filterSizes(dst []int, least, largest int) []int {
	for _, spread := range [...]bool{true, false} {
		for size := largest; size >= least && len(dst) < cap(dst); size-- {
			if spreads(uint64(size-1)) == spread {
				dst = append(dst, size)
			}
		}
	}
	return dst
}

// score adds up the rates of three kinds of absent keys, so it is at most 3: random ones, those
// between the keys, and those beyond. It may stop counting at limit.
func score(filter []byte, array Bits, between, beyond []uint32, limit float64) float64 {
	last := len(filter) - 1
	k, fill := int(filter[last]), float64(Ones(filter[:last]))/float64(8*last)
	sum := 1.0
	for range k {
		sum *= fill
	}
	for _, hashes := range [...][]uint32{between, beyond} {
		if n := float64(len(hashes)); n > 0 && sum < limit {
			sum += float64(countFound(array, k, hashes, int((limit-sum)*n))) / n
		}
	}
	return sum
}

// countFound returns how many keys of the given hashes have all their k probes set. It stops after
// limit.
func countFound(array Bits, k int, hashes []uint32, limit int) (found int) {
	for _, h := range hashes {
		delta, left := Delta(h), k
		for left > 0 && array.At(h)&1 != 0 {
			h += delta
			left--
		}
		if left > 0 {
			continue
		}
		if found++; found > limit {
			break
		}
	}
	return found
}
