package keys

import (
	"fmt"
	"strconv"
)

// FormatN writes a number of keys, with k for thousands and M for millions.
func FormatN(n int) string {
	switch {
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strconv.Itoa(n)
}

// CountN writes a number of keys with its unit: 1 key, 10k keys.
func CountN(n int) string {
	if n == 1 {
		return "1 key"
	}
	return FormatN(n) + " keys"
}
