package analysis

import (
	"fmt"

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

// Percent writes a part of one in per cent: with two decimals, or two digits if it is small.
func Percent(part float64) string {
	if part > 0 && part < 0.001 {
		return fmt.Sprintf("%.2g", 100*part)
	}
	return fmt.Sprintf("%.2f", 100*part)
}

// String writes a rate with its interval.
func (r Rate) String() string {
	return fmt.Sprintf("%s %% [%s to %s]", Percent(r.Rate), Percent(r.Low), Percent(r.High))
}
