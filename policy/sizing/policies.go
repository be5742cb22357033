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
	FPR(n int) float64
	FilterSize(n int) uint64
}

// mostBits is the most bits per key that BitsFor and Levels return: as many as policy.NewRibbon
// allows.
const mostBits = 40

// BitsFor returns the bits per key, from 2 to 40 in tenths, with which filters of n well-mixed keys
// have at most the target rate of false positives. With a tenth less they have more, unless it
// returns 2. newPolicy is a constructor of package policy:
//
//	sizing.BitsFor(policy.NewBloom, 100_000, 0.01)
//
// It returns an error that says why if no policy up to 40 bits per key reaches the target, or if n
// or target is out of range: n is 1 or more, and target is above 0 and below 1. It is slow with
// policy.NewBloom, as Bloom.FPR is.
func BitsFor[P Policy](
	newPolicy func(bitsPerKey float64, opts ...policy.Option) (P, error), n int, target float64,
	opts ...policy.Option,
) (float64, error) {
	_, err := BitsPerKey(target)
	if err := check(notNil(newPolicy), err, positive("keys", n)); err != nil {
		return 0, err
	}
	// The bits are above low/10 and up to high/10. The next guess follows the slope of the rate.
	low, high := 19, 10*mostBits+1
	guess := int(10 * math.Log2(1/target))
	for high-low > 1 {
		guess = min(max(guess, low+1), high-1)
		p, err := newPolicy(float64(guess)/10, opts...)
		if err != nil {
			return 0, err
		}
		rate := p.FPR(n)
		if rate <= target {
			high = guess
		} else if low = guess; low == 10*mostBits {
			return 0, unreachable(p, n, target)
		}
		guess += int(math.Ceil(10 * math.Log(max(rate, 1e-99)/target) / slope(p)))
	}
	return float64(high) / 10, nil
}

// notNil returns an error if a constructor of policies is nil.
func notNil[P policy.Policy](f func(float64, ...policy.Option) (P, error)) error {
	if f == nil {
		return errors.New("sizing: the constructor is nil: pass one such as policy.NewBloom")
	}
	return nil
}

// unreachable returns the error of BitsFor for a policy with the most bits per key.
func unreachable(p Policy, n int, target float64) error {
	reason := fmt.Sprintf("%d bits per key do not suffice", mostBits)
	sameHash := -math.Expm1(-float64(n) / (1 << 32))
	if _, bloom := p.(*policy.Bloom); bloom && sameHash > target/2 {
		reason = fmt.Sprintf("LevelDB's hash has 32 bits, so %.2g of the absent keys have the "+
			"hash of a key: use ribbon filters", sameHash)
	}
	return fmt.Errorf("sizing: a rate of %v cannot be reached with %d keys per filter, because %s",
		target, n, reason)
}

// Memory returns the bytes of the filters of n keys, of which up to perFilter share a filter. Both
// are 1 or more. A Bloom policy with tuning may take more (see policy.WithTuning). It returns an
// error above 2^60 bytes.
func Memory(p Policy, n, perFilter int) (uint64, error) {
	err := check(policy.Check(p), positive("keys", n), positive("keys per filter", perFilter))
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

// Filled returns the false-positive rate of a filter that has the size for capacity keys and n
// well-mixed keys. p is a *policy.Bloom without tuning: ribbon filters have no room for more keys.
// capacity is 1 or more, and n is not negative.
//
// The filters of package policy always have the size for their keys. This is for comparisons with
// filters that are sized in advance.
func Filled(p policy.Policy, capacity, n int) (float64, error) {
	if err := check(policy.Check(p), positive("keys of capacity", capacity)); err != nil {
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
