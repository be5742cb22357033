package analysis

import (
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
// would leave nothing to the others: a gap counts for no more than 64 times the median one. Where
// keys are spread evenly or at random this changes nothing, as there not one gap in 10^19 is so
// large.
//
// Keys of different lengths are different kinds: each length has its share of the keys asked for,
// by the number of its gaps, and its own median. Neighbors of different lengths have a gap of each.

// capBits is the logarithm to the base 2 of how many times the median a gap may count.
const capBits = 6

// betweenKeys calls f with about n absent keys between neighbors of the sample, without any twice:
// all that there are, if there are no more than n. They come by length, and then in the order of
// the sample. The key's memory is reused.
func betweenKeys(
	rng *rand.Rand, sample []neighbors, s shapes, n int, f func(key []byte) error,
) error {
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
	before := 0
	for _, length := range s.lengths {
		of := gaps[length]
		share := portion(n, before, len(of), total)
		before += len(of)
		for i, draws := range allot(rng, share, weigh(of)) {
			if err := of[i].draw(rng, draws, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// portion returns the part of n that count of total things have, after others before them, so that
// the portions of all things add up to n.
func portion(n, before, count, total int) int {
	if total == 0 {
		return 0
	}
	until := func(i int) int64 { return int64(n) * int64(i) / int64(total) } // not in 32 bits
	return int(until(before+count) - until(before))
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
func allot(rng *rand.Rand, n int, weights []float64) []int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	draws := make([]int, len(weights))
	if total <= float64(n) {
		for i, w := range weights {
			draws[i] = int(math.Round(w))
		}
		return draws
	}
	// The weights lie side by side on a line, and a key is drawn from the gap where each n-th part
	// of the line begins, after a random start. So a gap's draws differ from its proportion by less
	// than 1.
	step := total / float64(n)
	next, end := rng.Float64()*step, 0.0
	for i, w := range weights {
		for end += w; next < end; next += step {
			draws[i]++
		}
	}
	return draws
}
