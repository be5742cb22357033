//go:build race

package policytest

// Race reports whether the race detector runs: it takes memory, and makes sync.Pool drop what it is
// given.
const Race = true
