//go:build !linux

// Package clock has the clock that lookups and builds are timed with.
package clock

import "time"

var began = time.Now()

// Now reads the clock on the wall.
func Now() time.Duration { return time.Since(began) }
