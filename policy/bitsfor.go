package policy

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// BitsFor returns the bits per key, in tenths from 2 to 40, with which filters of n keys have at
// most the target FPP (false-positive probability). With 0.1 bits less it is above the target,
// unless BitsFor returns 2. kind is "bloom" or "ribbon". FilterSize of a policy with these bits
// returns the size of a filter. If the size is given, in bytes, pass 8*bytes/n bits to [NewRibbon],
// and call FPP.
//
// Among LevelDB's filters of few keys, some sizes have a higher FPP than a smaller one. So still
// fewer bits may suffice: with kind "bloom", 36 keys and a target of 0.00926, BitsFor returns 10.3.
// With 10.2 bits the FPP is too high, but not with 10.1.
//
// The FPP assumes keys whose hashes are like random numbers, as [Policy.FPP] does. For dense
// numbers, such as counters, no formula holds for LevelDB's filters.
//
// It returns an error that says why if 40 bits per key do not reach the target, if there is no such
// kind, or if n or target is out of range: n is 1 or more, and target is above 0 and below 1. For
// "bloom" it takes some seconds, because [Policy.FPP] is slow.
func BitsFor(kind string, n int, target float64) (float64, error) {
	switch {
	case !slices.Contains(kinds, kind):
		return 0, fmt.Errorf("policy: %q is not a kind of filter: pass one of %s",
			kind, strings.Join(kinds, ", "))
	case !(target > 0 && target < 1): // a NaN fails every comparison
		return 0, fmt.Errorf("policy: a target FPP of %v: "+
			"pass a number above 0 and below 1, such as 0.01", target)
	case n < 1:
		return 0, fmt.Errorf("policy: %d keys: pass 1 or more", n)
	}
	const settings = 10*(mostRibbonBits-leastRibbonBits) + 1
	tenths := sort.Search(settings, func(i int) bool {
		p, _ := newPolicy(kind == "ribbon", float64(10*leastRibbonBits+i)/10, nil)
		return p.FPP(n) <= target
	})
	if tenths == settings {
		return 0, fmt.Errorf("policy: an FPP of %v cannot be reached with n = %d, because %d bits "+
			"per key do not suffice (LevelDB's hash has only 32 bits; ribbon's has 64)",
			target, n, mostRibbonBits)
	}
	return float64(10*leastRibbonBits+tenths) / 10, nil
}
