package keys

import (
	"fmt"
	"strconv"
	"strings"
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

// ParseN reads what FormatN writes, from 1 to most.
func ParseN(s string, most int) (int, error) {
	digits, unit := s, 1
	if d, ok := strings.CutSuffix(s, "M"); ok {
		digits, unit = d, 1_000_000
	} else if d, ok := strings.CutSuffix(s, "k"); ok {
		digits, unit = d, 1000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > most/unit {
		return 0, fmt.Errorf("%q: pass a number of keys from 1 to %s, such as 32, 10k or 1M", s,
			FormatN(most))
	}
	return n * unit, nil
}
