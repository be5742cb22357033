// Package sizing computes how many bits per key to configure, and what that costs.
//
// [BitsFor] returns the bits per key with which a kind of filter reaches a false-positive
// probability (FPP), and [Memory] what the filters of a policy take. [Levels] distributes memory
// over the levels of an LSM tree. A kind is a name of [policy.Kinds], such as "ribbon".
//
// All FPPs are those of keys whose hashes are like random numbers, computed by the FPP methods of
// package policy. For dense numbers, such as counters, no formula holds for LevelDB's filters.
package sizing

import (
	"errors"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/policy"
	"github.com/levelbloom/levelbloom/policy/internal/rate"
)

// A Policy is one of the policies of package policy.
type Policy interface {
	policy.Policy
	FPP(n int) float64
	FilterSize(n int) uint64
}

// newPolicy returns a policy of a kind.
func newPolicy(kind string, bitsPerKey float64, opts ...policy.Option) (Policy, error) {
	p, err := policy.FromString(fmt.Sprintf("%s:%v", kind, bitsPerKey), opts...)
	if err != nil {
		return nil, err
	}
	return p.(Policy), nil
}

// mostBits is the most bits per key that BitsFor and Levels return: as many as policy.NewRibbon
// allows.
const mostBits = 40

// BitsFor returns the bits per key, from 2 to 40 in tenths, with which filters of n keys have at
// most the target FPP. With a tenth less they have more, unless it returns 2.
//
// It returns an error that says why if 40 bits per key do not reach the target, if there is no such
// kind, or if n or target is out of range: n is 1 or more, and target is above 0 and below 1. With
// kinds "bloom" and "tuned" it is slow, as policy.Bloom.FPP is.
func BitsFor(kind string, n int, target float64) (float64, error) {
	if !(target > 0 && target < 1) { // a NaN fails every comparison
		return 0, fmt.Errorf("sizing: a target FPP of %v: "+
			"pass a number above 0 and below 1, such as 0.01", target)
	}
	if err := positive("keys", n); err != nil {
		return 0, err
	}
	// The bits are above low/10 and up to high/10. The next guess follows the slope of the FPP.
	low, high := 19, 10*mostBits+1
	guess := int(10 * math.Log2(1/target))
	for high-low > 1 {
		guess = min(max(guess, low+1), high-1)
		p, err := newPolicy(kind, float64(guess)/10)
		if err != nil {
			return 0, err
		}
		fpp := p.FPP(n)
		if fpp <= target {
			high = guess
		} else if low = guess; low == 10*mostBits {
			return 0, unreachable(p, n, target)
		}
		guess += int(math.Ceil(10 * math.Log(max(fpp, 1e-99)/target) / slope(p)))
	}
	return float64(high) / 10, nil
}

// slope returns by how much a bit per key lowers the logarithm of the FPP.
func slope(p policy.Policy) float64 {
	if _, ok := p.(*policy.Bloom); ok {
		return math.Ln2 * math.Ln2
	}
	return math.Ln2
}

// unreachable returns the error of BitsFor for a policy with the most bits per key.
func unreachable(p Policy, n int, target float64) error {
	reason := fmt.Sprintf("%d bits per key do not suffice", mostBits)
	sameHash := rate.SameHash(float64(n))
	if _, bloom := p.(*policy.Bloom); bloom && sameHash > target/2 {
		reason = fmt.Sprintf("LevelDB's hash has 32 bits, so %.2g of the absent keys have the "+
			"hash of a key: use ribbon filters", sameHash)
	}
	return fmt.Errorf("sizing: an FPP of %v cannot be reached with n = %d, because %s",
		target, n, reason)
}

// Memory returns the bytes of the filters of n keys, of which up to perFilter share a filter. Both
// are 1 or more. A Bloom policy with tuning may take more (see [policy.WithTuning]). It returns an
// error above 2^60 bytes.
func Memory(p Policy, n, perFilter int) (uint64, error) {
	err := errors.Join(policy.Check(p), positive("keys", n),
		positive("keys per filter", perFilter))
	if err != nil {
		return 0, err
	}
	size := uint64(n/perFilter) * p.FilterSize(perFilter)
	if float64(n/perFilter)*float64(p.FilterSize(perFilter)) > 1<<60 {
		return 0, fmt.Errorf("sizing: the filters of %d keys take more than 2^60 bytes: "+
			"pass fewer keys", n)
	}
	if rest := n % perFilter; rest > 0 {
		size += p.FilterSize(rest)
	}
	return size, nil
}

// Filled returns the FPP of a filter that has the size for capacity keys and n keys. p is a
// *policy.Bloom without tuning: other filters have no room for more keys. capacity is 1 or more,
// and n is not negative.
//
// The filters of package policy always have the size for their keys. This is for comparisons with
// filters that are sized in advance.
func Filled(p policy.Policy, capacity, n int) (float64, error) {
	if err := errors.Join(policy.Check(p), positive("keys of capacity", capacity)); err != nil {
		return 0, err
	}
	if n < 0 {
		return 0, fmt.Errorf("sizing: %d keys: pass 0 or more", n)
	}
	bloom, ok := p.(*policy.Bloom)
	if !ok {
		return 0, fmt.Errorf("sizing: a filter of %T has no room for other numbers of keys "+
			"than it is built for: pass a Bloom", p)
	}
	info, err := policy.Parse(bloom.AppendFilter(nil, nil)) // k does not depend on the keys
	if err != nil {
		return 0, err
	}
	return rate.Bloom(bloom.FilterSize(capacity)-1, info.K, n), nil
}

// Textbook returns the FPP of a Bloom filter of n keys in m bits with k random, independent probes
// per key: (1 - e^(-kn/m))^k. LevelDB's filters have more false positives: at 10 bits per key, 1.4
// times as many with 20 keys and 2.4 times with 300,000; at 20 bits per key, 17 times with 20 keys.
// Keys, bits and probes are 1 or more.
func Textbook(n, m, k int) (float64, error) {
	err := errors.Join(positive("keys", n), positive("bits", m), positive("probes", k))
	if err != nil {
		return 0, err
	}
	return rate.Textbook(float64(n), float64(m), k), nil
}

// positive returns an error if x is not a number above 0.
func positive[T int | float64](what string, x T) error {
	if x > 0 && !math.IsInf(float64(x), 1) {
		return nil
	}
	return fmt.Errorf("sizing: %v %s: pass a number above 0", x, what)
}
