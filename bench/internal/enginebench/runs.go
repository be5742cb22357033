package enginebench

import (
	"math"
	"slices"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Runs are what Config.Run measured, in the order of its runs.
type Runs []Run

// Of returns the runs of a contestant in an engine, by round.
func (all Runs) Of(engine, contestant string) (runs Runs) {
	for _, r := range all {
		if r.Engine == engine && r.Contestant == contestant {
			runs = append(runs, r)
		}
	}
	return runs
}

// Engines returns the engines that ran, in order.
func (all Runs) Engines() (names []string) {
	for _, r := range all {
		if !slices.Contains(names, r.Engine) {
			names = append(names, r.Engine)
		}
	}
	return names
}

// Filters returns the filters that ran in an engine, in the order of the first round.
func (all Runs) Filters(engine string) (names []string) {
	for _, r := range all {
		if r.Engine == engine && !strings.HasSuffix(r.Contestant, again) &&
			!slices.Contains(names, r.Contestant) {
			names = append(names, r.Contestant)
		}
	}
	return names
}

// Median returns the median of a figure over the runs, or NaN.
func (all Runs) Median(figure func(Run) float64) float64 {
	var values []float64
	for _, r := range all {
		values = append(values, figure(r))
	}
	return report.Median(values)
}

// Ratio returns how many times as high a figure is as that of base in the same round.
func (all Runs) Ratio(base Runs, figure func(Run) float64) report.Spread {
	var ratios []float64
	for _, r := range all {
		for _, b := range base {
			if b.Round == r.Round {
				ratios = append(ratios, figure(r)/figure(b))
			}
		}
	}
	return report.Extremes(ratios, 2)
}

// Load is the keys stored per second.
func Load(r Run) float64 { return r.Load }

// FPR is the part of checks, between the present keys, that were false positives.
func FPR(r Run) float64 { return 1 - ratio(r.BetweenAvoided, r.BetweenChecks) }

// BytesPerKey is the bytes of filters for each key that has one.
func BytesPerKey(r Run) float64 { return ratio(r.FilterBytes, r.Keys) }

// Reads is the reads of table data per lookup.
func Reads(p Pass) float64 { return p.Reads }

func ratio(a, b int64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}
