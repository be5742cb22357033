package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Number is a figure with the number of decimals to show. NaN, which is unknown, has no text.
type Number struct {
	Value    float64
	Decimals int
}

func (n Number) String() string {
	if math.IsNaN(n.Value) {
		return ""
	}
	return strconv.FormatFloat(n.Value, 'f', n.Decimals, 64)
}

// A Figure varies from round to round, or depends on chance: it has an interval.
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

// Times returns the figure in another unit.
func (f Figure) Times(factor float64) Figure {
	return Figure{f.Middle * factor, f.Low * factor, f.High * factor}
}

// String writes each number with two digits that count.
func (f Figure) String() string {
	if math.IsNaN(f.Middle) {
		return ""
	}
	middle, low, high := digits(f.Middle), digits(f.Low), digits(f.High)
	if low == high {
		return middle
	}
	return fmt.Sprintf("%s [%s to %s]", middle, low, high)
}

// digits writes x with two digits that count, or as a whole number.
func digits(x float64) string {
	// Rounded first: 0.0996 is 0.10, which has one decimal less.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 64)
	if rounded == 0 || math.Abs(rounded) >= 10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', 1-int(math.Floor(math.Log10(math.Abs(rounded)))), 64)
}
