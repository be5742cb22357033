package main

import (
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// processorsTable shows times relative to goleveldb's: the lowest and the highest of all numbers of
// keys.
func processorsTable(files []file) report.Table {
	t := report.Table{Keys: 1, Columns: []string{"processor"},
		Title: "Times as long as with goleveldb's own filter, below 1 is faster"}
	for _, f := range files {
		times := map[string][]float64{} // by column
		for _, r := range records[filters.Speed](f) {
			if r.Contestant != "bloom" && r.Contestant != "ribbon" {
				continue
			}
			column := r.Contestant + ", " + r.Work
			times[column] = append(times[column], 1/r.Ratio)
			low, high := slices.Min(times[column]), slices.Max(times[column])
			t.Set(column, report.Digits(low)+" to "+report.Digits(high),
				f.machine+": "+f.Environment.CPU)
		}
	}
	return t
}
