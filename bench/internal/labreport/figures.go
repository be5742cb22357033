package labreport

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// fewest is the number of false positives below which a rate is too uncertain to draw.
const fewest = 5

// tradeOff draws the rates against the bits per key that filters really have, a chart for each
// number of keys per filter.
func tradeOff(records []ratebench.Record, keys string) (figures []template.HTML, err error) {
	for _, n := range distinct(records, ratebench.Record.Of) {
		c := chart.New(n, "bits per key", "false positives, %")
		low, high, most := 1.0, 1.0, 0.0
		for _, kind := range distinct(records, func(r ratebench.Record) string { return r.Kind }) {
			var points plotter.XYs
			for _, r := range records {
				if r.Of() != n || r.Kind != kind || r.FalsePositives < fewest {
					continue
				}
				at := plotter.XY{X: 8 * r.FilterBytes / float64(r.N), Y: 100 * r.FPR}
				points = append(points, at)
				low, high, most = min(low, at.Y), max(high, at.Y), max(most, at.X)
			}
			if err := c.Line(kind, chart.LookOf(kind), points); err != nil {
				return nil, err
			}
		}
		var limit plotter.XYs
		for bits := 0.0; bits <= most && math.Exp2(-bits) >= low/200; bits += 0.5 {
			if rate := 100 * math.Exp2(-bits); rate <= high*1.2 {
				limit = append(limit, plotter.XY{X: bits, Y: rate})
			}
		}
		if err := c.Dashed("limit for random keys", chart.Other, chart.Dashes, limit); err != nil {
			return nil, err
		}
		c.LogY(low/2, high*1.2)
		c.EveryX(4)
		figure := &chart.Figure{
			Title: "False positives against bits per key, " + n,
			Desc: fmt.Sprintf("A line for each kind of filter, of %s. Lower is better, and so is "+
				"further left. The dashed line is the limit for random keys.", keys),
			Width: 10 * vg.Centimeter, Height: 8 * vg.Centimeter, Charts: []*chart.Chart{c},
		}
		figures = append(figures, figure.Inline())
	}
	return figures, nil
}

// distinct returns the names of records, each once, in order.
func distinct[T any](records []T, name func(T) string) (names []string) {
	for _, r := range records {
		if n := name(r); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
