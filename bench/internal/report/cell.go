package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Number is a figure with the number of decimals to show. A NaN is shown as an empty cell.
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
	if math.IsNaN(s.Middle) {
		return ""
	}
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', s.Decimals, 64) }
	if low, high := text(s.Low), text(s.High); low != high {
		return fmt.Sprintf("%s [%s to %s]", text(s.Middle), low, high)
	}
	return text(s.Middle)
}

// format returns the text of a cell.
func format(cell any) string {
	if cell == nil {
		return ""
	}
	return fmt.Sprint(cell)
}

// isText reports whether a cell is text, which is aligned to the left.
func isText(cell any) bool {
	_, ok := cell.(string)
	return ok
}

func oneLine(err error) string { return strings.Join(strings.Split(err.Error(), "\n"), "; ") }
