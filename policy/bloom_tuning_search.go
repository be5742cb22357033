package policy

import (
	"math"
	"math/bits"
	"slices"
)

// manyKeys is from how many keys on filters get a choice that is good for all keys.
const manyKeys = 1 << 16

// choiceForMany returns the size and k of a filter of many keys, for LevelDB's size and k.
//
// Probe 2 takes only about 2^17 values (see bloomModel), so it rules out few absent keys here. Two
// more probes make up for it, and the size matters for random keys too: at 10 bits per key, the
// rate goes from 1.2 to 1.0 % with 65,536 of them, and from 2.1 to 1.1 % with 150,000
// (go test ./policy -run TuningManyKeys -v).
func choiceForMany(size, largest uint64, k int) (uint64, int) {
	for s := size; s <= largest; s++ {
		if spreads(s - 1) {
			size = s
			break
		}
	}
	if k > 2 { // otherwise there is no probe 2
		k = min(k+2, maxProbes)
	}
	return size, k
}

// spreads reports whether few probes of neighbors coincide in an array of so many bytes.
//
// Neighbors differ in their last characters, the high bytes of the last word that the hash takes.
// So only the top bits of the product differ, x of them, and through h ^ h>>16 and delta, probes j
// of two neighbors lie about x*65537*(2+j)/2 apart. Each factor of 2 in the number of bytes hides
// one bit of x: arrays of 2^n bytes are the worst. Modulo a divisor of 255, where 256 equals 1, all
// bytes of a hash count alike, and a difference in one cancels a difference in another. TestSpreads
// has examples.
func spreads(bytes uint64) bool {
	return bytes%2 != 0 && bytes%3 != 0 && bytes%5 != 0 && bytes%17 != 0
}

// asExpected reports whether absent keys are false positives of a filter of LevelDB's choice about
// as often as random ones.
func (b *tuningBuilder) asExpected(filter []byte) bool {
	absent := b.absent.hashes
	found := countFound(filter, absent, len(absent))
	return found == 0 || float64(found) <= 1.5*b.expected(filter)*float64(len(absent))
}

// expected returns the textbook's false-positive rate of a filter with as many keys.
func (b *tuningBuilder) expected(filter []byte) float64 {
	nbits, k := float64(8*(len(filter)-1)), float64(filter[len(filter)-1])
	return math.Pow(-math.Expm1(-k*float64(b.Len())/nbits), k)
}

// tunings are the filters to try: the index of a size, and what to add to k. The order is that of a
// greedy search over decimal, hexadecimal and binary counters in filters of 20 to 100 keys: each
// entry is the one that lowered the rate most after those before it. Changing k wins more than
// changing the size. Binary counters need a small k: those that differ only in their last byte have
// the same h%8 and delta%8, so in every size their probes reach only 8, 4, 2 or 1 bits of each
// byte.
var tunings = [...]struct{ size, k int }{
	{0, 0}, {0, -2}, {0, 2}, {1, -1}, {0, -4}, {2, 0}, {3, 2}, {0, -1}, {1, 2},
}

// search returns the best of some filters of the same keys, the first one included.
func (b *tuningBuilder) search(first []byte, largest int) []byte {
	between := b.absent.hashes
	b.absent.addBeyond(max(8, b.Len()/2))
	beyond := b.absent.hashes[len(between):]

	var memory [4]int
	sizes := filterSizes(memory[:0], len(first), largest)
	best, bestScore := first, score(first, between, beyond, 4)
	enough := 1.25 * b.expected(first)
	tries := max(1, 13-bits.Len(uint(b.Len()))) // the larger a filter, the longer a try takes
	for _, t := range tunings {
		k := int(first[len(first)-1]) + t.k
		if k < 1 || k > maxProbes || t.size >= len(sizes) {
			continue
		}
		size := sizes[t.size]
		if size == len(first) && t.k == 0 {
			continue
		}
		if bestScore <= enough || tries == 0 {
			break
		}
		tries--
		filter := slices.Grow(b.trial[:0], size)[:size]
		b.trial = filter
		clear(filter)
		b.write(filter, k)
		if s := score(filter, between, beyond, bestScore); s < bestScore {
			b.best = append(b.best[:0], filter...)
			best, bestScore = b.best, s
		}
	}
	return best
}

// filterSizes appends up to 4 sizes of filters to dst, the most promising first: those that spread
// before others, and larger ones than LevelDB's before smaller ones.
func filterSizes(dst []int, first, largest int) []int {
	for _, spread := range [...]bool{true, false} {
		for size := first; size <= largest && len(dst) < 4; size++ {
			if spreads(uint64(size-1)) == spread {
				dst = append(dst, size)
			}
		}
		for size := first - 1; size >= first-first/12 && len(dst) < 4; size-- {
			if spreads(uint64(size-1)) == spread {
				dst = append(dst, size)
			}
		}
	}
	return dst
}

// score adds up the rates of three kinds of absent keys, so it is at most 3: random ones, those
// between the keys, and those beyond. It may stop counting at limit.
func score(filter []byte, between, beyond []uint32, limit float64) float64 {
	array := filter[:len(filter)-1]
	fill := float64(ones(array)) / float64(8*len(array))
	sum := 1.0
	for range filter[len(array)] {
		sum *= fill
	}
	for _, hashes := range [...][]uint32{between, beyond} {
		if n := float64(len(hashes)); n > 0 && sum < limit {
			sum += float64(countFound(filter, hashes, int((limit-sum)*n))) / n
		}
	}
	return sum
}

// countFound returns how many keys of the given hashes filter may contain. It stops after limit.
func countFound(filter []byte, hashes []uint32, limit int) (found int) {
	array, k := newBitArray(filter), int(filter[len(filter)-1])
	if k >= 5 {
		var group [hashGroup]uint32
		var out [hashGroup]bool
		for len(hashes) > 0 && found <= limit {
			n := copy(group[:], hashes)
			found += testProbes(array, &group, n, k, false, out[:n])
			hashes = hashes[n:]
		}
		return found
	}
	for _, h := range hashes {
		delta, left := probeDelta(h), k
		for left > 0 && array.at(h)&1 != 0 {
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
