package main

import (
	"fmt"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

// percent writes a part of one in per cent: with two decimals, or two digits if it is small.
func percent(part float64) string {
	if part > 0 && part < 0.001 {
		return fmt.Sprintf("%.2g", 100*part)
	}
	return fmt.Sprintf("%.2f", 100*part)
}

// rateText writes a rate with its interval and the number of keys, or why none was asked about.
func rateText(r analysis.Rate, unasked, what string) string {
	if r.Asked == 0 {
		return fmt.Sprintf("%s: none asked about; %s", what, unasked)
	}
	return fmt.Sprintf("%s %% [%s to %s] of %s %s",
		percent(r.Rate), percent(r.Low), percent(r.High), analysis.Thousands(r.Asked), what)
}

// rateColumn writes a rate in a column, nothing if no key was asked about.
func rateColumn(r analysis.Rate) string {
	if r.Asked == 0 {
		return ""
	}
	return percent(r.Rate)
}
