package sizing

import (
	"errors"
	"fmt"
	"math"

	"github.com/levelbloom/levelbloom/policy"
)

// Levels distributes memory over the levels of an LSM tree, so that a lookup of an absent key meets
// the fewest false positives. keys has the number of keys of each level, or 0 for a level that no
// lookup reads a filter of: Pebble's Get reads none in L6. memory is the bits per key of all these
// levels together, as if they had one setting: above 0.
//
// It returns a policy for each level, or nil for no filter, with bits per key in tenths. fmt prints
// them, and pebblev2.ConfigureLevels takes them.
//
// A lookup of an absent key reads one filter per level. So the number of false positives is the sum
// of the levels' FPPs, and it is least if every FPP is proportional to the keys of its level: a
// small level has more bits per key, a large one fewer (Dayan, Athanassoulis and Idreos, "Monkey:
// Optimal Navigable Key-Value Store", SIGMOD 2017, section 4.1). Levels where the FPP would come
// close to 1 have no filter.
func Levels(
	kind string, keys []int, memory float64, opts ...policy.Option,
) ([]policy.Policy, error) {
	if err := positive("bits per key", memory); err != nil {
		return nil, err
	}
	total := 0.0
	for level, n := range keys {
		if n < 0 {
			return nil, fmt.Errorf("sizing: level %d has %d keys: pass 0 or more", level, n)
		}
		total += float64(n)
	}
	if total == 0 {
		return nil, errors.New("sizing: no level has keys: pass the keys of some")
	}
	example, err := newPolicy(kind, max(2, memory), opts...)
	if err != nil {
		return nil, err
	}
	bits := allocate(keys, memory*total, slope(example))
	policies := make([]policy.Policy, len(keys))
	for level, b := range bits {
		if b == 0 {
			continue
		}
		if policies[level], err = newPolicy(kind, b, opts...); err != nil {
			return nil, fmt.Errorf("sizing: level %d: %w", level, err)
		}
	}
	return policies, nil
}

// leastBits is the least bits per key of a level with a filter.
const leastBits = 2

// allocate returns the bits per key of each level that minimize the sum of exp(-slope*bits), for
// the given bits of all levels together.
func allocate(keys []int, memory, slope float64) []float64 {
	bits := make([]float64, len(keys))
	settled := make([]bool, len(keys))
	for {
		// At the least sum, the rates are keys * e^-x for one x (Lagrange).
		var total, weighted float64
		for level, n := range keys {
			if n > 0 && !settled[level] {
				total += float64(n)
				weighted += float64(n) * math.Log(float64(n))
			}
		}
		if total == 0 {
			return bits
		}
		x := (slope*memory + weighted) / total
		// The largest level has the fewest bits. Without a filter there, others get its memory.
		largest, smallest := -1, -1
		for level, n := range keys {
			if n == 0 || settled[level] {
				continue
			}
			bits[level] = (x - math.Log(float64(n))) / slope
			if largest < 0 || n > keys[largest] {
				largest = level
			}
			if smallest < 0 || n < keys[smallest] {
				smallest = level
			}
		}
		switch {
		case bits[largest] < leastBits:
			bits[largest], settled[largest] = 0, true
		case bits[smallest] > mostBits:
			bits[smallest], settled[smallest] = mostBits, true
			memory -= mostBits * float64(keys[smallest])
		default:
			for level, b := range bits {
				bits[level] = math.Floor(10*b) / 10
			}
			return bits
		}
	}
}
