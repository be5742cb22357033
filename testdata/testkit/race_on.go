//go:build race || invariants

package testkit

// Race reports whether the race detector runs: it takes memory, and makes sync.Pool drop what it is
// given. Pebble then checks itself, as it also does with the tag invariants.
const Race = true
