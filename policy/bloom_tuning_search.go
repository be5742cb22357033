package policy

import (
	"math"
	"math/bits"
)

// manyKeys is from how many keys on filters get a choice that is good for all keys.
const manyKeys = 1 << 16

// choiceForMany returns the size and k of a filter of many keys, for LevelDB's size and k.
//
// Probe 2 takes only about 2^17 values (see bloomModel) and tells little of so many keys. With two
// probes more the rate is lower: at 10 bits per key 1.20 % instead of 1.44 % with 100,000 random
// keys, 1.06 % instead of 1.31 % with 1,000,000. The size matters as well: 150,000 random keys have
// 2.1 % with LevelDB's size and 1.3 % in a byte more. (TestTuningManyKeys has the figures.)
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

// spreads says that few probes of neighbors coincide in an array of so many bytes.
//
// Neighbors differ in their last characters, which are the high bytes of the last word that the
// hash takes. One multiplication and two shifted copies later (h ^ h>>16, and delta) probe j of two
// neighbors lies about x*65537*(2+j)/2 apart, where x has 16 bits, and for binary keys only the
// upper 8 of them vary. Each factor of 2 in the number of bytes hides a bit of that: arrays of 2^n
// bytes are worst. And modulo a divisor of 255, where 256 = 1, all bytes of a hash count alike, so
// that differences in one cancel those in another. TestSpreads has examples.
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
	return math.Pow(-math.Expm1(-k*float64(b.n)/nbits), k)
}

// tunings are the filters to try, the most promising first: an index among the sizes and what to
// add to k. Other ks win more than other sizes. Binary counters need small ones: all that change
// only in their last byte have the same h%8 and delta%8, so that together, with any number of bits,
// their probes reach 8, 4, 2 or only 1 of the bits of each byte.
var tunings = [...]struct{ size, k int }{
	{0, 0}, {0, -2}, {0, 2}, {1, -1}, {0, -4}, {2, 0}, {3, 2},
}

// search returns the best of some filters of the same keys, the first one included. The result may
// lie in b.scratch.
func (b *tuningBuilder) search(first []byte, largest int) []byte {
	between := b.absent.hashes
	b.absent.addBeyond(b.keys[0], max(8, b.n/2))
	beyond := b.absent.hashes[len(between):]

	if cap(b.scratch) < 2*largest {
		b.scratch = make([]byte, 2*largest)
	}
	best, other := first, b.scratch[:largest]
	bestScore := score(best, between, beyond, math.MaxInt32)
	enough := 1.25 * b.expected(first)
	sizes := b.sizes(len(first), largest)
	tries := max(1, 14-bits.Len(uint(b.n))) // the larger a filter, the longer a try takes
	for _, t := range tunings {
		k := int(first[len(first)-1]) + t.k
		if k < 1 || k > maxProbes || t.size >= len(sizes) || t.k == 0 && sizes[t.size] == len(first) {
			continue
		}
		if bestScore <= enough || tries == 0 {
			break
		}
		tries--
		filter := other[:sizes[t.size]]
		clear(filter)
		b.fill(filter, k)
		if s := score(filter, between, beyond, bestScore); s < bestScore {
			best, bestScore = filter, s
			if &other[0] == &b.scratch[0] {
				other = b.scratch[largest : 2*largest]
			} else {
				other = b.scratch[:largest]
			}
		}
	}
	return best
}

// sizes returns up to 4 sizes of filters, the most promising first: those that spread before
// others, and larger ones than LevelDB's before smaller ones.
func (b *tuningBuilder) sizes(first, largest int) (sizes []int) {
	smallest := first - (first-1)/12
	for _, spread := range []bool{true, false} {
		for size := first; size <= largest && len(sizes) < 4; size++ {
			if spreads(uint64(size-1)) == spread {
				sizes = append(sizes, size)
			}
		}
		for size := first - 1; size >= smallest && len(sizes) < 4; size-- {
			if spreads(uint64(size-1)) == spread {
				sizes = append(sizes, size)
			}
		}
	}
	return sizes
}

// score adds up the rates of three kinds of absent keys: random ones, those between the keys and
// those beyond. It may stop counting at limit.
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
	array, k := filter[:len(filter)-1], filter[len(filter)-1]
	m := newModulus(len(array))
next:
	for _, h := range hashes {
		delta := probeDelta(h)
		for range k {
			if array[m.byteOf(h)]>>(h%8)&1 == 0 {
				continue next
			}
			h += delta
		}
		if found++; found > limit {
			break
		}
	}
	return found
}
