package analysis

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Absent keys between the table's own.
//
// All absent keys of the table's range that look like its keys are equally likely to be asked for:
// a lookup of the 63 % of a numbered range that are there, and of those that are not, means just
// these. So a gap between neighbors counts by its size. But the keys of a table often form groups
// with giant gaps between them ("acct:...", "user:..."), which nobody looks into, and one such gap
// would leave nothing to the others: a gap counts for no more than 64 times the median one. Keys
// that are spread evenly or at random have no such gaps.
//
// Keys of different lengths are different kinds: each length has its share of the keys asked for,
// by the number of its gaps, and its own median. Neighbors of different lengths have a gap of each.

// capBits is the logarithm to the base 2 of how many times the median a gap may count.
const capBits = 6

// betweenKeys yields about n absent keys between neighbors of the sample, without any twice: all
// that there are, if there are no more than n. They come by length, and then in the order of the
// sample. The key's memory is reused.
func betweenKeys(rng *rand.Rand, sample []neighbors, s shapes, n int) iter.Seq[[]byte] {
	gaps, total := map[int][]interval{}, 0
	for _, pair := range sample {
		lengths := []int{len(pair.low), len(pair.high)}
		for _, length := range slices.Compact(lengths) {
			if gap := s.of[length].between(pair); gap.n > 0 {
				gaps[length] = append(gaps[length], gap)
				total++
			}
		}
	}
	return func(yield func(key []byte) bool) {
		for _, length := range s.lengths {
			of := gaps[length]
			share := math.Ceil(float64(n) * float64(len(of)) / float64(total))
			for i, draws := range allot(rng, share, weigh(of)) {
				for key := range of[i].draw(rng, draws) {
					if !yield(key) {
						return
					}
				}
			}
		}
	}
}

// randomKeys yields n keys of random bytes, of the lengths of the sample. Those shorter than 8
// bytes get 8, so that none is in the table by chance. The key's memory is reused.
func randomKeys(rng *rand.Rand, sample [][]byte, n int) iter.Seq[[]byte] {
	return func(yield func(key []byte) bool) {
		var key []byte
		for range n {
			length := 8
			if len(sample) > 0 { // else all keys are long
				length = max(length, len(sample[rng.IntN(len(sample))]))
			}
			key = key[:0]
			for len(key) < length {
				key = append(key, byte(rng.Uint32()))
			}
			if !yield(key) {
				return
			}
		}
	}
}

// weigh returns the number of keys for which each gap counts. If they are too many for a float64,
// all are scaled down.
func weigh(gaps []interval) []float64 {
	if len(gaps) == 0 {
		return nil
	}
	bits := make([]float64, len(gaps))
	for i := range gaps {
		bits[i] = gaps[i].bits()
	}
	sorted := slices.Clone(bits)
	slices.Sort(sorted)
	median := sorted[len(sorted)/2]
	weights := make([]float64, len(gaps))
	for i, b := range bits {
		weights[i] = math.Exp2(min(b, median+capBits) - max(0, median-maxBits))
	}
	return weights
}

// maxBits keeps the sum of the weights far from the largest float64.
const maxBits = 900

// allot returns how many keys to draw from each gap: in proportion to the weights, n in all, but
// from none more than its weight.
func allot(rng *rand.Rand, n float64, weights []float64) []int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	draws := make([]int, len(weights))
	if total <= n {
		for i, w := range weights {
			draws[i] = int(math.Round(w))
		}
		return draws
	}
	// The weights lie side by side on a line, and a key is drawn from the gap where each n-th part
	// of the line begins, after a random start. So a gap's draws differ from its proportion by less
	// than 1.
	step := total / n
	next, end := rng.Float64()*step, 0.0
	for i, w := range weights {
		for end += w; next < end; next += step {
			draws[i]++
		}
	}
	return draws
}
