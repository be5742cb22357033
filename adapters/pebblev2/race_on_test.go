//go:build race

package pebblev2_test

// raceEnabled reports whether the race detector watches the tests.
const raceEnabled = true
