package policy

import "github.com/levelbloom/levelbloom/policy/internal/rate"

// FPR returns the expected false-positive rate of a filter of n different keys. It computes the rate
// from the format, for keys whose hashes are like random numbers. In filters of 8 to 400,000 keys,
// with up to 20 bits per key, it is within 5 % of what TestFPR measures. It panics if n is negative.
//
// For dense numbers, such as counters, no formula holds: `go run ./bench rates` measures them.
// With [WithTuning] too, FPR is the rate of random keys, in filters of LevelDB's size or the one
// that 32,768 keys or more get. WithTuning says how close filters of dense numbers come to it.
//
// It is slow, because it samples filters, always the same ones. The quick model of [Info.Estimate]
// would not do: in small filters it is far too low.
func (b *Bloom) FPR(n int) float64 {
	size, _, k := b.choice(n)
	return rate.Bloom(size-1, k, n)
}

// FPR returns the expected false-positive rate of a filter of n different keys, of any shape.
// In filters of 8 to 60,000 keys it is within 5 % of what TestFPR measures. It panics if n is
// negative.
func (b *BlockedBloom) FPR(n int) float64 {
	return rate.Blocked(b.FilterSize(n)-blockedTrailer, b.k, n)
}

// FPR returns the expected false-positive rate of a filter of n different keys, of any shape.
// In filters of 9 to 40,000 keys it is within 5 % of what TestFPR measures. It panics if n is
// negative.
func (r *Ribbon) FPR(n int) float64 {
	size := r.FilterSize(n)
	if !r.suits(n) {
		return r.blocked.FPR(n)
	}
	return expectedRate(n, int(size))
}

// bumpedKeys returns how many keys an upper layer of a ribbon filter bumps, on average
// (TestBumpedKeys).
func bumpedKeys(n int) int { return int(30.5 + 0.0443*float64(n)) }

// expectedRate returns the rate of most ribbon filters with so many keys and bytes.
func expectedRate(n, size int) float64 {
	s := new(ribbonShape)
	left := n
	for left > ribbonLastMax {
		s.appendUpper(upperBlocksOf(left))
		left = bumpedKeys(left)
	}
	s.last = lastSlots(left)
	s.fit(size - trailerTail - len(s.appendParameters(nil)))
	// Of all hashes: those not in the layers so far, and those with one column more. estimate has
	// the same for a filter.
	reach, more := 1.0, 0.0
	left = n
	windows := (s.part-s.last)/ribbonBlock - ribbonWindow + 1 // that have it
	for u := s.upper; len(u) > 0; u = u[3:] {
		blocks := upperBlocks(u)
		starts := blocks - ribbonWindow + 1
		bumped := bumpedKeys(left)
		kept := reach * (1 - float64(bumped)/float64(left))
		left = bumped
		more += kept * float64(min(max(windows, 0), starts)) / float64(starts)
		reach -= kept
		windows -= blocks
	}
	more += reach * float64(s.favoured()) / float64(s.last)
	return (1 - more/2) / float64(uint64(1)<<s.columns)
}
