package pebblev2

import "github.com/cockroachdb/pebble/v2"

const numLevels = len(pebble.Options{}.Levels)

// levelFilters contains the policy of every level; nil is no filter.
type levelFilters [numLevels]pebble.FilterPolicy

// filtersOf returns the policies that o has for the levels.
func filtersOf(o *pebble.Options) (filters levelFilters) {
	for level, l := range o.Levels {
		if l.FilterPolicy != pebble.NoFilterPolicy {
			filters[level] = l.FilterPolicy
		}
	}
	return filters
}

// setLevels sets the policy of every level and nothing else.
func setLevels(o *pebble.Options, filters levelFilters) {
	for level, f := range filters {
		if f == nil {
			f = pebble.NoFilterPolicy // nil would inherit the policy of the level above
		}
		o.Levels[level].FilterPolicy = f
	}
}

// largestIndexBlock returns the largest size that o has for the index blocks of a level. Unless
// set, it is that of the level above, and in L0 that of data blocks.
func largestIndexBlock(o *pebble.Options) (largest int) {
	size := o.Levels[0].BlockSize
	for _, l := range o.Levels {
		if l.IndexBlockSize > 0 {
			size = l.IndexBlockSize
		}
		largest = max(largest, size)
	}
	return largest
}
