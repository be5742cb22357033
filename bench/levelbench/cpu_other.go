//go:build !unix

package levelbench

import "time"

// cpuTime is not known here: the report leaves it out.
func cpuTime() (time.Duration, error) { return 0, nil }
