package labreport

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/curvebench"
	"github.com/levelbloom/levelbloom/bench/internal/engine"
	"github.com/levelbloom/levelbloom/bench/internal/filterbench"
	"github.com/levelbloom/levelbloom/bench/internal/ratebench"
)

// fewest is the number of false positives below which a rate is too uncertain to draw.
const fewest = 5

// tradeOff draws the rates against the bits per key that filters really have, a chart for each
// number of keys per filter.
func tradeOff(records []ratebench.Record, keys string) (figures []*chart.Figure, err error) {
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
		figures = append(figures, &chart.Figure{
			Title: "False positives against bits per key, " + n,
			Desc: fmt.Sprintf("A line for each kind of filter, of %s. Lower is better, and so is "+
				"further left. The dashed line is the limit for random keys.", keys),
			Width: 10 * vg.Centimeter, Height: 8 * vg.Centimeter, Charts: []*chart.Chart{c},
		})
	}
	return figures, nil
}

// shapes draws the rates by shape of keys, a figure for each number of keys per filter.
func shapes(records []ratebench.Record) (figures []*chart.Figure, err error) {
	whole, err := ratebench.ShapeFigure(records)
	if err != nil {
		return nil, err
	}
	for _, c := range whole.Charts {
		part := *whole
		part.Width, part.Height = 10*vg.Centimeter, 8*vg.Centimeter
		part.Title, part.Charts = whole.Title+", "+c.Title.Text, []*chart.Chart{c}
		figures = append(figures, &part)
	}
	return figures, nil
}

// curves draws rates against the fill of filters and the like, a figure for each chart.
func curves(records []curvebench.Record) (figures []*chart.Figure, err error) {
	charts, err := curvebench.Charts(records)
	for _, c := range charts {
		figures = append(figures, &chart.Figure{
			Title: "False positives: " + c.Title.Text,
			Desc: "Measured rates with their spread, the textbook's and predicted ones. The " +
				"scale of rates is logarithmic. The table of this part has the figures.",
			Width: 10 * vg.Centimeter, Height: 8 * vg.Centimeter, Charts: []*chart.Chart{c},
		})
	}
	return figures, err
}

// A bar is what a bar chart shows in a row.
type bar struct {
	name, kind        string
	low, middle, high float64
}

// bars draws rows of bars. At 1 there is a line, if base names what is there.
func bars(title, unit, base string, rows []bar) (*chart.Figure, error) {
	c := chart.New(title, unit, "")
	var names []string
	highest := 0.0
	for _, row := range rows {
		names, highest = append(names, row.name), max(highest, row.high)
	}
	c.Names(names)
	for i, row := range rows {
		y := float64(len(rows) - 1 - i)
		look := chart.LookOf(row.kind)
		if err := c.Bar(look, y, row.low, row.middle, row.high); err != nil {
			return nil, err
		}
	}
	c.X.Min, c.X.Max = 0, highest*1.05
	if base != "" {
		c.MarkX(1, "")
	}
	return &chart.Figure{
		Title: title,
		Desc: "A bar for each contestant, longer is faster; the line on it is the spread. " +
			"The table of this part has the figures.",
		Width: 10 * vg.Centimeter, Height: vg.Length(2.2+0.6*float64(len(rows))) * vg.Centimeter,
		Charts: []*chart.Chart{c},
	}, nil
}

// speeds draws how fast filters are by themselves, a figure for each work.
func speeds(records []filterbench.Record) (figures []*chart.Figure, err error) {
	compared := speedRatios(records)
	for _, work := range distinct(compared, func(s speedRatio) string { return s.work }) {
		var rows []bar
		base := ""
		for _, s := range compared {
			if s.work == work {
				rows = append(rows, bar{s.contestant, s.contestant, s.low, s.middle, s.high})
				base = s.base
			}
		}
		figure, err := bars(work, "times as fast as "+base, base, rows)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure)
	}
	return figures, nil
}

// inEngines draws the false positives of each filter, a figure for each engine.
func inEngines(all []advice) (figures []*chart.Figure, err error) {
	for _, a := range all {
		c := chart.New(title(a.Engine), "false positives, %", "")
		low, high := 0.5, 2.0
		var names []string
		for _, choice := range a.Choices {
			if choice.Filter == engine.None || !(choice.FPR > 0) {
				continue
			}
			names = append(names, choice.Filter)
			low, high = min(low, 80*choice.FPR), max(high, 120*choice.FPR)
		}
		c.Names(names)
		c.LogX(low, high)
		for i, name := range names {
			at := plotter.XYs{{X: 100 * a.of(name).FPR, Y: float64(len(names) - 1 - i)}}
			if err := c.Points("", chart.LookOf(name), at); err != nil {
				return nil, err
			}
		}
		figures = append(figures, &chart.Figure{
			Title: "False positives in " + title(a.Engine),
			Desc: "A line for each filter; further left is better, and the scale is logarithmic. " +
				"The table of this part has the figures.",
			Width: 10 * vg.Centimeter, Height: 5.5 * vg.Centimeter, Charts: []*chart.Chart{c},
		})
	}
	return figures, nil
}
