//go:build !linux

package policy

import "time"

var started = time.Now()

func threadTime() time.Duration { return time.Since(started) }
