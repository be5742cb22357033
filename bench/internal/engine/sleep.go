//go:build !linux

package engine

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
