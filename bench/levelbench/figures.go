package levelbench

import (
	"fmt"
	"math"
	"slices"

	"github.com/montanaflynn/stats"
)

// figures are what a number of rounds gave; NaN where there is none.
type figures stats.Float64Data

// of returns the figure of every run of a plan, in the order of the rounds.
func (r *Report) of(plan string, figure func(Run) float64) (f figures) {
	for _, run := range r.Runs {
		if run.Plan == plan {
			f = append(f, figure(run))
		}
	}
	return f
}

// against divides by the figures of another plan in the same rounds.
func (f figures) against(base figures) figures {
	ratios := slices.Clone(f)
	for i := range ratios {
		ratios[i] /= base[i]
	}
	return ratios
}

// median is that of the figures that are there, or NaN.
func (f figures) median() float64 {
	there := slices.DeleteFunc(slices.Clone(f), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	m, err := stats.Float64Data(there).Median()
	if err != nil {
		return math.NaN()
	}
	return m
}

func (f figures) format(format string) string {
	if math.IsNaN(f.median()) {
		return ""
	}
	return fmt.Sprintf(format, f.median())
}

// spread is format with the range.
func (f figures) spread(format string) string {
	s := f.format(format)
	if s == "" {
		return s
	}
	low, high := fmt.Sprintf(format, slices.Min(f)), fmt.Sprintf(format, slices.Max(f))
	if low != high {
		s += fmt.Sprintf(" [%s to %s]", low, high)
	}
	return s
}
