package main

import (
	"fmt"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/filters"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// contents are what blocks show of their files.
var contents = map[string]func([]measured) []report.Table{
	"tables":     func(files []measured) []report.Table { return files[0].Tables },
	"rates":      ratesTables,
	"shapes":     shapesTable,
	"processors": processorsTable,
}

// ratesTables shows the first number of bits per key as bench does, and the others in short.
func ratesTables(files []measured) []report.Table {
	var g grid
	for _, r := range files[0].Records.([]filters.Rate) {
		if r.Bits > 10 {
			g.add(fmt.Sprint(r.N), fmt.Sprintf("%s, %v bits", r.Kind, r.Bits), r.FPR)
		}
	}
	short := g.table("Median cell and worst cell in %, with more bits per key", "keys per filter",
		func(rates []float64) string {
			return filters.Percent(report.Median(rates)) + ", " + filters.Percent(slices.Max(rates))
		})
	return []report.Table{files[0].Tables[0], short}
}

// shapesTable has a row for each kind and shape, and one for all of ribbon, where shapes make no
// difference, and a column for each number of keys.
func shapesTable(files []measured) []report.Table {
	var g grid
	for _, r := range files[0].Records.([]filters.Rate) {
		row := r.Kind + ", " + r.Shape
		if r.Kind == "ribbon" {
			row = "ribbon, all of these"
		}
		g.add(row, keys.Count(r.N).String(), r.FPR)
	}
	slices.Sort(g.rows)
	return []report.Table{g.table("False positives in %, by number of keys per filter", "keys",
		func(rates []float64) string {
			if len(rates) == 1 {
				return filters.Percent(rates[0])
			}
			return filters.Percent(slices.Min(rates)) + " to " + filters.Percent(slices.Max(rates))
		})}
}

// processorsTable shows times relative to goleveldb's. Of Zen 2 no file was kept: the lowest and
// the highest ratio of each column.
func processorsTable(files []measured) []report.Table {
	var g grid
	zen2 := []float64{2.0, 2.7, 1.5, 1.7, 2.4, 4.0, 1.05, 1.56, 0.83, 1.39, 0.64, 1.04}
	for i, column := range []string{"bloom, hit", "bloom, miss", "bloom, build", "ribbon, hit",
		"ribbon, miss", "ribbon, build"} {
		g.add("Zen 2: AMD EPYC (family 23)", column, 1/zen2[2*i])
		g.add("Zen 2: AMD EPYC (family 23)", column, 1/zen2[2*i+1])
	}
	for _, m := range files {
		for _, r := range m.Records.([]filters.Speed) {
			if column := r.Contestant + ", " + r.Work; slices.Contains(g.columns, column) {
				g.add(m.machine+": "+m.Environment.CPU, column, 1/r.Ratio)
			}
		}
	}
	return []report.Table{g.table("Times as long as with goleveldb's own filter, below 1 is faster",
		"processor", between)}
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

// table returns a table of what write makes of the values.
func (g *grid) table(title, rows string, write func([]float64) string) report.Table {
	t := report.Table{Title: title, Keys: 1, Columns: append([]string{rows}, g.columns...)}
	for _, row := range g.rows {
		cells := []any{row}
		for _, column := range g.columns {
			cells = append(cells, write(g.values[[2]string{row, column}]))
		}
		t.Add(cells...)
	}
	return t
}

// between writes the range of some values.
func between(values []float64) string {
	low, high := report.Digits(slices.Min(values)), report.Digits(slices.Max(values))
	if low == high {
		return low
	}
	return low + " to " + high
}
