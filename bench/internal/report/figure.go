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

// Range writes the median of values, and the lowest and the highest unless they look the same.
// Without values it has no text.
func Range(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	low, high := Digits(slices.Min(values)), Digits(slices.Max(values))
	if low == high {
		return low
	}
	return fmt.Sprintf("%s (%s–%s)", Digits(Median(values)), low, high)
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
