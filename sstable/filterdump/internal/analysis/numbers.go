package analysis

import (
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var english = message.NewPrinter(language.English)

// integer is what is counted here.
type integer interface{ int | int64 }

// Sprintf is fmt.Sprintf with commas in large numbers.
func Sprintf(format string, args ...any) string { return english.Sprintf(format, args...) }

// Count writes a number with its unit: "1 table", "12,345 tables". The plural is the unit with an s
// unless it is given.
func Count[N integer](n N, unit string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case len(plural) > 0:
		return Sprintf("%d %s", n, plural[0])
	default:
		return Sprintf("%d %ss", n, unit)
	}
}

// Printable returns s with escapes for what is not Printable, which a terminal could take for a
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
