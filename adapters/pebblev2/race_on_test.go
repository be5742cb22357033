//go:build race || invariants

package pebblev2

// RaceEnabled reports whether the race detector watches the tests. Pebble then checks itself, as it
// also does with the tag invariants.
const RaceEnabled = true
