package ratebench

import (
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// Keys per filter in engines with records of 116 bytes: in goleveldb's windows of 2 KiB (values are
// compressed to half), and in a Pebble table of 12 MB.
const (
	WindowKeys = 36
	TableKeys  = 100_000
)

// shapeCharts returns a chart for each number of keys per filter, with a line for each shape of
// keys and a glyph for each kind. The rates are those at 10 bits per key.
func shapeCharts(records []Record) (charts []*chart.Chart, err error) {
	var ns []int
	var shapes, kinds []string
	low, high := 0.2, 50.0
	for _, r := range records {
		if r.Bits != 10 {
			continue
		}
		ns, shapes, kinds = addNew(ns, r.N), addNew(shapes, r.Shape), addNew(kinds, r.Kind)
		if r.FPR > 0 {
			low, high = min(low, 80*r.FPR), max(high, 100*r.FPR)
		}
	}
	for _, n := range ns {
		c := chart.New(Record{N: n}.Of(), "false positives, % (10 bits per key)", "")
		c.Names(shapes)
		c.LogX(low, high)
		for _, k := range kinds {
			var points plotter.XYs
			for _, r := range records {
				if r.N == n && r.Kind == k && r.Bits == 10 {
					y := float64(len(shapes) - 1 - slices.Index(shapes, r.Shape))
					points = append(points, plotter.XY{X: max(low, 100*r.FPR), Y: y})
				}
			}
			if err := c.Points(k, chart.LookOf(k), points); err != nil {
				return nil, err
			}
		}
		charts = append(charts, c)
	}
	return charts, nil
}

// ShapeFigure puts the charts of shapeCharts side by side.
func ShapeFigure(records []Record) (*chart.Figure, error) {
	charts, err := shapeCharts(records)
	return &chart.Figure{
		Title: "False positives by kind of filter and shape of keys",
		Desc: "A line for each shape of keys, a glyph for each kind of filter; the scale is " +
			"logarithmic.",
		Width: 11 * vg.Centimeter, Height: 9.5 * vg.Centimeter, Charts: charts,
	}, err
}

// Of says of how many keys the record's filters are, and which engine has such filters.
func (r Record) Of() string {
	switch of := keys.CountN(r.N) + " per filter"; {
	case r.N == WindowKeys:
		return "goleveldb: " + of
	case r.N >= leastTable:
		return "Pebble: " + of
	default:
		return of
	}
}

// leastTable is the number of keys from which on a filter is more likely that of a Pebble table
// than of a window.
const leastTable = 1000

func addNew[T comparable](all []T, x T) []T {
	if slices.Contains(all, x) {
		return all
	}
	return append(all, x)
}
