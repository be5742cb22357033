package analysis

import (
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var english = message.NewPrinter(language.English)

// integer is what is counted here.
type integer interface{ int | int64 | uint64 }

// Thousands writes a number with commas.
func Thousands[N integer](n N) string { return english.Sprint(n) }

// Count writes a number with its unit: "1 table", "12,345 tables". The plural is the unit with an s
// unless it is given.
func Count[N integer](n N, unit string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case len(plural) > 0:
		return Thousands(n) + " " + plural[0]
	default:
		return Thousands(n) + " " + unit + "s"
	}
}
