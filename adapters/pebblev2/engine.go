package pebblev2

import "github.com/cockroachdb/pebble/v2"

// This file has what differs between Pebble v1 and v2. The other files of package pebblev1 are
// generated from this package's.

const numLevels = len(pebble.Options{}.Levels)

// levelFilters contains the policy of every level; nil is no filter.
type levelFilters [numLevels]pebble.FilterPolicy

// noFilter is what Pebble itself uses for a level without filters.
var noFilter = pebble.NoFilterPolicy

// formerFilters returns the policies of o's levels.
func formerFilters(o *pebble.Options) []pebble.FilterPolicy {
	var former []pebble.FilterPolicy
	for _, l := range o.Levels {
		if l.FilterPolicy != nil && l.FilterPolicy != noFilter {
			former = append(former, l.FilterPolicy)
		}
	}
	return former
}

// setLevels sets the policy of every level and nothing else.
func setLevels(o *pebble.Options, filters levelFilters) {
	for level, f := range filters {
		if f == nil {
			f = noFilter // nil would inherit the policy of the level above
		}
		o.Levels[level].FilterPolicy = f
	}
}

// hidesFilter reports whether Pebble does not report the properties of t: v2 hides those of virtual
// tables.
func hidesFilter(t pebble.SSTableInfo) bool { return t.Virtual }
