package pebblev1

import (
	"slices"

	"github.com/cockroachdb/pebble"
)

// numLevels is Pebble's number of levels, L0 to L6. Options may have fewer entries: the last one
// applies to the levels past it.
const numLevels = 7

// levelFilters contains the policy of every level; nil is no filter.
type levelFilters [numLevels]pebble.FilterPolicy

// filtersOf returns the policies that o has for the levels.
func filtersOf(o *pebble.Options) (filters levelFilters) {
	for level, l := range o.Levels[:min(len(o.Levels), numLevels)] {
		filters[level] = l.FilterPolicy
	}
	return filters
}

// setLevels sets the policy of every level. It writes to a new slice because other options may
// share the old one. It also sees to it that lookups can consult filters.
func setLevels(o *pebble.Options, filters levelFilters) {
	levels := slices.Clone(o.Levels)
	if len(levels) == 0 {
		levels = make([]pebble.LevelOptions, 1) // as Pebble does for nil
	}
	o.Levels = extend(levels)
	for level, f := range filters {
		o.Levels[level].FilterPolicy = f
	}
	o.Comparer = withSplit(o.Comparer)
}

// withSplit returns c, or if c has no Split, a copy in which the prefix is the whole key.
//
// Lookups call SeekPrefixGE, which panics if there is no Split. Filters contain whole keys in both
// cases, and Pebble stores and compares no more of a comparer than its name, so tables and
// databases of one open with the other.
func withSplit(c *pebble.Comparer) *pebble.Comparer {
	if c == nil {
		c = pebble.DefaultComparer
	}
	if c.Split != nil {
		return c
	}
	split := *c
	split.Split = wholeKey
	return &split
}

func wholeKey(key []byte) int { return len(key) }

// extend returns levels with an entry for every level.
// REQUIRES: levels has at least one entry, and may be changed.
//
// A new entry is what Pebble itself derives for its level: the last entry with its defaults filled
// in, and the target file size doubled for each level below it. A zero entry would get the default
// size instead.
func extend(levels []pebble.LevelOptions) []pebble.LevelOptions {
	levels[len(levels)-1].EnsureDefaults()
	given := pebble.Options{Levels: levels}
	for level := len(levels); level < numLevels; level++ {
		levels = append(levels, given.Level(level))
	}
	return levels
}

// largestIndexBlock returns the largest size that o has for the index blocks of a level. Unless
// set, it is that of data blocks. Levels past the last entry are as that.
func largestIndexBlock(o *pebble.Options) (largest int) {
	for _, l := range o.Levels[:min(len(o.Levels), numLevels)] {
		size := l.IndexBlockSize
		if size <= 0 {
			size = l.BlockSize
		}
		largest = max(largest, size)
	}
	return largest
}
