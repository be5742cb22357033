//go:build !linux

package filterbench

import "time"

var began = time.Now()

// now reads the clock on the wall.
func now() time.Duration { return time.Since(began) }
