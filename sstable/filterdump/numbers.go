package main

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/levelbloom/levelbloom/sstable/filterdump/internal/analysis"
)

var english = message.NewPrinter(language.English)

// integer is what is counted here.
type integer interface{ int | int64 | uint64 }

// thousands writes a number with commas.
func thousands[N integer](n N) string { return english.Sprint(n) }

// count writes a number with its unit: "1 table", "12,345 tables". The plural is the unit with an s
// unless it is given.
func count[N integer](n N, unit string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + unit
	case len(plural) > 0:
		return thousands(n) + " " + plural[0]
	default:
		return thousands(n) + " " + unit + "s"
	}
}

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
		percent(r.Rate), percent(r.Low), percent(r.High), thousands(r.Asked), what)
}

// rateColumn writes a rate in a column, nothing if no key was asked about.
func rateColumn(r analysis.Rate) string {
	if r.Asked == 0 {
		return ""
	}
	return percent(r.Rate)
}

func joinInts(numbers []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
}
