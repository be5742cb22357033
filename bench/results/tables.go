package main

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// readsTable shows what the picture shows, of all filters.
func readsTable(files []file) []report.Table {
	var g grid
	for i, keys := range []string{"random keys", "dense decimals"} {
		for _, r := range records[engines.Record](files[i]) {
			row := engines.EngineTitle(r.Engine) + ", " + engines.Title(r.Filter)
			g.add(row, keys, r.Absent.PerThousand())
		}
	}
	title := "Data blocks read for 1,000 absent keys"
	return []report.Table{g.table(title, "engine and filter", report.Digits)}
}

// shapesTable has a row for each kind and shape, and one for all of ribbon, where shapes make no
// difference, and a column for each number of keys.
func shapesTable(files []file) []report.Table {
	var g grid
	for _, r := range records[filters.Rate](files[0]) {
		row := r.Kind + ", " + r.Shape
		if r.Kind == "ribbon" {
			row = "ribbon, all of these"
		}
		g.add(row, report.Digits(float64(r.N)), r.FPR)
	}
	slices.Sort(g.rows)
	title := "False positives in %, by number of keys per filter"
	return []report.Table{g.table(title, "keys", filters.Percent)}
}

// processorsTable shows times relative to goleveldb's.
func processorsTable(files []file) []report.Table {
	var g grid
	for _, f := range files {
		for _, r := range records[filters.Speed](f) {
			if r.Contestant == "bloom" || r.Contestant == "ribbon" {
				row := f.machine + ": " + f.Environment.CPU
				g.add(row, r.Contestant+", "+r.Work, 1/r.Ratio)
			}
		}
	}
	title := "Times as long as with goleveldb's own filter, below 1 is faster"
	return []report.Table{g.table(title, "processor", report.Digits)}
}

// A grid has the values of each row and column, both in the order in which they were added.
type grid struct {
	rows, columns []string
	values        map[[2]string][]float64
}

func (g *grid) add(row, column string, value float64) {
	if g.values == nil {
		g.values = map[[2]string][]float64{}
	}
	if !slices.Contains(g.rows, row) {
		g.rows = append(g.rows, row)
	}
	if !slices.Contains(g.columns, column) {
		g.columns = append(g.columns, column)
	}
	at := [2]string{row, column}
	g.values[at] = append(g.values[at], value)
}

// table returns a table of the values, or of the lowest and the highest.
func (g *grid) table(title, rows string, write func(float64) string) report.Table {
	t := report.Table{Title: title, Keys: 1, Columns: append([]string{rows}, g.columns...)}
	for _, row := range g.rows {
		cells := []any{row}
		for _, column := range g.columns {
			values := g.values[[2]string{row, column}]
			low, high := write(slices.Min(values)), write(slices.Max(values))
			if low != high {
				low = fmt.Sprintf("%s to %s", low, high)
			}
			cells = append(cells, low)
		}
		t.Add(cells...)
	}
	return t
}
