package enginebench

import (
	"math"

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

// FPR returns the part of checks, between the present keys, that were false positives.
func (all Runs) FPR() report.Figure {
	return all.falsePositives(func(r Run) int64 { return r.BetweenChecks })
}

// Needless returns the reads per 1,000 misses that perfect filters would have avoided.
func (all Runs) Needless() report.Figure {
	return all.falsePositives(func(r Run) int64 { return r.BetweenLookups }).Times(1000)
}

// falsePositives returns how many there were per something, or NaN if no filter was asked. All
// rounds count the same lookups, so the first one says it.
func (all Runs) falsePositives(per func(Run) int64) report.Figure {
	if len(all) == 0 || all[0].BetweenChecks == 0 {
		return report.Figure{Middle: math.NaN()}
	}
	return Rate(all[0].BetweenChecks-all[0].BetweenAvoided, per(all[0]))
}

// Rate returns events / of with its interval of 95 %, taking the events as independent (Poisson's
// distribution, score interval).
func Rate(events, of int64) report.Figure {
	const z = 1.96
	n, k := float64(of), float64(events)
	middle, half := k+z*z/2, z*math.Sqrt(k+z*z/4)
	f := report.Figure{Middle: k / n, Low: (middle - half) / n, High: (middle + half) / n}
	if events == 0 {
		f.Low = 0 // and not the error of rounding
	}
	return f
}

// BytesPerKey is the bytes of filters for each key that has one.
func BytesPerKey(r Run) float64 { return float64(r.FilterBytes) / float64(r.Keys) }

// MissReads is the reads of table data per miss.
func MissReads(r Run) float64 { return r.Miss.Reads }
