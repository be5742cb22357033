package enginebench

import (
	"math"

	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// Runs are what Config.Run measured, in the order of its runs.
type Runs []Run

// Of returns the timed runs of a contestant in an engine, by round.
func (all Runs) Of(engine, contestant string) (runs Runs) {
	for _, r := range all {
		if r.Engine == engine && r.Contestant == contestant && r.Round > 0 {
			runs = append(runs, r)
		}
	}
	return runs
}

// Median returns the median of a figure over the runs, or NaN.
func (all Runs) Median(figure func(Run) float64) float64 {
	var values []float64
	for _, r := range all {
		values = append(values, figure(r))
	}
	return report.Median(values)
}

// Ratio returns how many times as high a figure is as that of base in the same round, with the
// lowest and the highest.
func (all Runs) Ratio(base Runs, figure func(Run) float64) report.Figure {
	var ratios []float64
	for _, r := range all {
		for _, b := range base {
			if b.Round == r.Round {
				ratios = append(ratios, figure(r)/figure(b))
			}
		}
	}
	return report.Extremes(ratios)
}

// FPR returns the part of checks that were false positives, or NaN if no filter was consulted.
func (r Run) FPR() report.Figure {
	if r.BetweenChecks == 0 {
		return report.Figure{Middle: math.NaN()}
	}
	checks := float64(r.BetweenChecks)
	return report.Wilson(1-float64(r.BetweenAvoided)/checks, checks, report.Z95)
}

// Needless returns the reads per 1,000 misses that perfect filters would have avoided.
func (r Run) Needless() report.Figure {
	return r.FPR().Times(1000 * float64(r.BetweenChecks) / float64(r.BetweenLookups))
}

// BytesPerKey is the bytes of filters for each key that has one.
func (r Run) BytesPerKey() float64 { return float64(r.FilterBytes) / float64(r.Keys) }
