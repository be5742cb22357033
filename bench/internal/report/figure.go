package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Figure is the median of several rounds, with the lowest and the highest of them.
type Figure struct{ Middle, Low, High float64 }

// Extremes returns the median of values, the lowest and the highest.
func Extremes(values []float64) Figure {
	if len(values) == 0 {
		return Figure{Middle: math.NaN()}
	}
	return Figure{Median(values), slices.Min(values), slices.Max(values)}
}

// Median returns the median of values, or NaN if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// String writes each number with two digits that count.
func (f Figure) String() string {
	middle, low, high := Digits(f.Middle), Digits(f.Low), Digits(f.High)
	if low == high {
		return middle
	}
	return fmt.Sprintf("%s (%s–%s)", middle, low, high)
}

// Digits writes x with two digits that count, or as a whole number: 0.12, 1.2, 12, 1,234. NaN,
// which is unknown, has no text.
func Digits(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	// Rounded first: 0.0996 is 0.10, which has one decimal less.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64)
	if rounded >= 10 || rounded == 0 {
		whole := strconv.FormatFloat(x, 'f', 0, 64)
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + "," + whole[i:]
		}
		return whole
	}
	return strconv.FormatFloat(x, 'f', 1-int(math.Floor(math.Log10(rounded))), 64)
}
