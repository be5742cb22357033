// Package sizing computes how many bits per key to configure, and what that costs.
//
// [BitsFor] returns the bits per key with which a kind of filter reaches a false-positive
// probability (FPP), and [Memory] what the filters of a policy take. A kind is a name of
// [policy.Kinds], such as "ribbon".
//
// All FPPs are those of keys whose hashes are like random numbers, computed by the FPP methods of
// package policy. For dense numbers, such as counters, no formula holds for LevelDB's filters.
package sizing

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/levelbloom/levelbloom/policy"
)

// A Policy is one of the policies of package policy.
type Policy interface {
	policy.Policy
	FPP(n int) float64
	FilterSize(n int) uint64
}

// newPolicy returns a policy of a kind.
func newPolicy(kind string, bitsPerKey float64) (Policy, error) {
	p, err := policy.FromString(fmt.Sprintf("%s:%v", kind, bitsPerKey))
	if err != nil {
		return nil, err
	}
	return p.(Policy), nil
}

// leastBits and mostBits limit what BitsFor returns: to what policy.NewRibbon allows.
const leastBits, mostBits = 2, 40

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
	most, err := newPolicy(kind, mostBits)
	switch {
	case err != nil:
		return 0, err
	case most.FPP(n) > target:
		advice := ""
		if _, bloom := most.(*policy.Bloom); bloom {
			advice = ", and LevelDB's hash has only 32 bits: use ribbon filters"
		}
		return 0, fmt.Errorf("sizing: an FPP of %v cannot be reached with n = %d, because %d "+
			"bits per key do not suffice%s", target, n, mostBits, advice)
	}
	tenths := sort.Search(10*(mostBits-leastBits), func(i int) bool {
		p, failed := newPolicy(kind, float64(10*leastBits+i)/10)
		err = errors.Join(err, failed)
		return failed != nil || p.FPP(n) <= target
	})
	return float64(10*leastBits+tenths) / 10, err
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

// positive returns an error if x is not a number above 0.
func positive[T int | float64](what string, x T) error {
	if x > 0 && !math.IsInf(float64(x), 1) {
		return nil
	}
	return fmt.Errorf("sizing: %v %s: pass a number above 0", x, what)
}
