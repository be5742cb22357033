package scan

import (
	"fmt"
	"strconv"
	"strings"
)

// Count writes a number with its unit: "1 table", "2 tables", "2 entries".
func Count[N int | int64](n N, unit string) string {
	if n != 1 {
		unit = strings.Replace(unit+"s", "ys", "ies", 1)
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// Printable returns s with escapes for what is not printable, which a terminal could take for a
// command: names from the disk can have any bytes.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			escaped := strconv.QuoteRune(r)
			b.WriteString(escaped[1 : len(escaped)-1])
		}
	}
	return b.String()
}
