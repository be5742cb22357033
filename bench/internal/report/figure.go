package report

import (
	"fmt"
	"slices"
	"strconv"
)

// Median returns the median of values, of which there is at least one.
func Median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Rounded writes x with one or two digits that count, and zeros after them: 1.2, 12, 1,200. Below
// 10 there are always two.
func Rounded(x float64, digits int) string {
	if x >= 10 {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	}
	return Digits(x)
}

// Digits writes x with two digits that count, or as a whole number: 0.12, 1.2, 12, 1,234.
func Digits(x float64) string {
	if 0 < x && x < 9.95 { // what is more has two digits before the point
		return fmt.Sprintf("%#.2g", x)
	}
	whole := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}
