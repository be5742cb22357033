package pebblev1

import (
	"slices"

	"github.com/cockroachdb/pebble"
)

// This file has what differs between Pebble v1 and v2. The other files are generated from package
// pebblev2.
//
//go:generate go run ../internal/genpebblev1

// numLevels is Pebble's number of levels, L0 to L6. Options may have fewer entries: the last one
// applies to the levels past it.
const numLevels = 7

// levelFilters contains the policy of every level; nil is no filter.
type levelFilters [numLevels]pebble.FilterPolicy

// noFilter is what Pebble itself uses for a level without filters.
var noFilter pebble.FilterPolicy

// formerFilters returns the policies of o's levels.
func formerFilters(o *pebble.Options) []pebble.FilterPolicy {
	var former []pebble.FilterPolicy
	for _, l := range o.Levels {
		if l.FilterPolicy != noFilter {
			former = append(former, l.FilterPolicy)
		}
	}
	return former
}

// setLevels sets the policy of every level and nothing else. It keeps the entries that exist, in a
// new slice because other options may share the old one. If they cannot express the filters, the
// new slice has an entry for every level.
func setLevels(o *pebble.Options, filters levelFilters) {
	levels := slices.Clone(o.Levels)
	if len(levels) == 0 {
		levels = make([]pebble.LevelOptions, 1) // as Pebble does for nil
	}
	last := min(len(levels), numLevels) - 1
	differs := func(f pebble.FilterPolicy) bool { return f != filters[last] }
	if slices.ContainsFunc(filters[last:], differs) {
		levels = extend(levels)
	}
	for level := range min(len(levels), numLevels) {
		levels[level].FilterPolicy = filters[level]
	}
	o.Levels = levels
}

// extend returns levels with an entry for every level.
// REQUIRES: levels has at least one entry and fewer than numLevels.
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

// hidesFilter reports whether Pebble does not report the properties of t: v1 reports all.
func hidesFilter(pebble.SSTableInfo) bool { return false }
