//go:build !linux

package filters

import "time"

var began = time.Now()

// Now reads the clock on the wall.
func Now() time.Duration { return time.Since(began) }
