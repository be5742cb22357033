package labreport

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// percent writes a rate with two digits that count, such as "0.13 %", with a space that no line
// breaks at.
func percent(rate float64) string {
	if math.IsNaN(rate) {
		return "unknown"
	}
	return digits(100*rate, 2) + "\u00a0%"
}

// digits writes x with n digits that count at most, and commas between thousands.
func digits(x float64, n int) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return ""
	case x == 0:
		return "0"
	}
	// Rounded first: 0.0996 is 0.10, which has one decimal less.
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	if math.Abs(x) >= 1000 {
		return message.NewPrinter(language.English).Sprintf("%.0f", x)
	}
	return strconv.FormatFloat(x, 'f', max(0, decimals), 64)
}

// title writes the name of an engine.
func title(engine string) string { return strings.Replace(engine, "pebblev", "Pebble v", 1) }
