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

// A Spread is a figure that varies from round to round, or that has an interval.
type Spread struct {
	Middle, Low, High float64
	Decimals          int
}

// Extremes returns the median of values, the lowest and the highest.
func Extremes(values []float64, decimals int) Spread {
	if len(values) == 0 {
		return Spread{Middle: math.NaN()}
	}
	return Spread{Median(values), slices.Min(values), slices.Max(values), decimals}
}

// Median returns the median of values, or NaN if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func (s Spread) String() string {
	text := func(x float64) string { return Number{x, s.Decimals}.String() }
	middle, low, high := text(s.Middle), text(s.Low), text(s.High)
	if middle == "" || low == high {
		return middle
	}
	return fmt.Sprintf("%s [%s to %s]", middle, low, high)
}
