package labreport

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// fewest is the number of false positives below which a rate is too uncertain to draw.
const fewest = 5

// tradeOff draws the rates against the bits per key that filters really have, a chart for each
// number of keys per filter.
func tradeOff(records []ratebench.Record, keys string) (figures []template.HTML) {
	for _, n := range distinct(records, ratebench.Record.Of) {
		var lines []chart.Series
		low, high, most := 1.0, 1.0, 1.0
		for _, kind := range distinct(records, func(r ratebench.Record) string { return r.Kind }) {
			line := chart.Series{Name: kind, Look: chart.LookOf(kind), Line: true}
			for _, r := range records {
				if r.Of() != n || r.Kind != kind || r.FalsePositives < fewest {
					continue
				}
				at := chart.XY{X: 8 * r.FilterBytes / float64(r.N), Y: 100 * r.FPR}
				line.Points = append(line.Points, at)
				low, high, most = min(low, at.Y), max(high, at.Y), max(most, at.X)
			}
			lines = append(lines, line)
		}
		limit := chart.Series{Name: "limit for random keys", Look: chart.Other, Dashed: true}
		for bits := 0.0; bits <= most && math.Exp2(-bits) >= low/200; bits += 0.5 {
			if rate := 100 * math.Exp2(-bits); rate <= high*1.2 {
				limit.Points = append(limit.Points, chart.XY{X: bits, Y: rate})
			}
		}
		c := chart.Chart{Title: n, X: chart.Axis{Label: "bits per key", Max: most},
			Y:      chart.Axis{Label: "false positives, %", Log: true, Min: low / 2, Max: high * 1.2},
			Series: append(lines, limit)}
		figure := &chart.Figure{
			Title: "False positives against bits per key, " + n,
			Desc: fmt.Sprintf("A line for each kind of filter, of %s. Lower is better, and so is "+
				"further left. The dashed line is the limit for random keys.", keys),
			Width: 400, Height: 320, Charts: []chart.Chart{c},
		}
		figures = append(figures, figure.Inline())
	}
	return figures
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
