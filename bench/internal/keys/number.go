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

// ParseN reads what FormatN writes, from 1 to 20M.
func ParseN(s string) (int, error) {
	digits, unit := s, 1
	if d, ok := strings.CutSuffix(s, "M"); ok {
		digits, unit = d, 1_000_000
	} else if d, ok := strings.CutSuffix(s, "k"); ok {
		digits, unit = d, 1000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 20_000_000/unit {
		return 0, fmt.Errorf("%q: pass a number of keys from 1 to 20M, such as 32, 10k or 1M", s)
	}
	return n * unit, nil
}
