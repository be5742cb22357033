package curvebench

import (
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// Draw writes the charts side by side as SVG. They say if the records are not complete.
func Draw(records []Record, complete bool, w io.Writer) error {
	charts, err := Charts(records)
	if err != nil {
		return err
	}
	for _, c := range charts {
		if !complete {
			c.Title.Text += ", INCOMPLETE"
		}
	}
	f := chart.Figure{
		Title: "False-positive rates against fill, bits per key and keys per filter",
		Desc: "Measured rates with their spread, the textbook's and predicted ones. Rates are on " +
			"a logarithmic scale.",
		Width: 11 * vg.Centimeter, Height: 8 * vg.Centimeter, Charts: charts,
	}
	_, err = f.WriteTo(w)
	return err
}

// Charts returns a chart of each kind against fill, and one of all kinds for each other view. They
// need nothing but the records.
func Charts(records []Record) (charts []*chart.Chart, err error) {
	for _, v := range Views {
		curves := byKind(records, v)
		together := [][]curve{curves}
		if v == Fill {
			together = slices.Collect(slices.Chunk(curves, 1))
		}
		for _, curves := range together {
			if len(curves) == 0 {
				continue
			}
			c, err := newChart(v, curves)
			if err != nil {
				return nil, err
			}
			charts = append(charts, c)
		}
	}
	return charts, nil
}

// A curve is the records of a kind in a view.
type curve []Record

// byKind returns the curves of a view in the order of the records.
func byKind(records []Record, v View) (curves []curve) {
	for _, r := range records {
		if r.View != string(v) {
			continue
		}
		i := slices.IndexFunc(curves, func(c curve) bool { return c[0].Kind == r.Kind })
		if i < 0 {
			i, curves = len(curves), append(curves, nil)
		}
		curves[i] = append(curves[i], r)
	}
	return curves
}

// newChart draws the curves of a view.
func newChart(v View, curves []curve) (*chart.Chart, error) {
	first := curves[0][0]
	bits, n := fmt.Sprintf("%v bits per key", first.Bits), keys.CountN(first.Capacity)
	title, x := n+" per filter", "bits per key"
	switch v {
	case Fill:
		title, x = first.Kind+", "+bits, "keys / capacity of "+n
	case Keys:
		title, x = bits, "keys per filter"
	}
	c := chart.New(title, x, "false positives, %")
	low, high := 100*first.Target, 100*first.Target
	for _, records := range curves {
		for _, p := range records.line(0, 100, mean) {
			low, high = min(low, 0.7*p.Y), max(high, 1.4*p.Y)
		}
	}
	for i, records := range curves {
		if err := records.draw(c, v, low, high, i == 0); err != nil {
			return nil, err
		}
	}
	c.LogY(low, min(100, high))
	c.MarkY(100*first.Target, "target")
	switch v {
	case Fill:
		c.X.Min = 0
		c.MarkX(1, "capacity")
	case Keys:
		c.LogX(first.x(), curves[0][len(curves[0])-1].x())
	}
	return c, nil
}

// draw draws the mean of the runs, a band of one standard deviation on both sides, and the
// prediction; of the first curve the textbook's as well, and against fill a cross for each run.
// What is not between low and high is left out.
func (records curve) draw(c *chart.Chart, v View, low, high float64, first bool) error {
	kind := records[0].Kind
	look := chart.LookOf(kind)
	var crosses, below, above plotter.XYs
	for _, r := range records {
		for _, run := range r.Runs {
			if v == Fill && run.FPR > 0 {
				crosses = append(crosses, plotter.XY{X: r.x(), Y: min(high, max(low, 100*run.FPR))})
			}
		}
		if 100*r.Mean >= low {
			below = append(below, plotter.XY{X: r.x(), Y: max(low, 100*(r.Mean-r.Deviation))})
			above = append(above, plotter.XY{X: r.x(), Y: min(high, 100*(r.Mean+r.Deviation))})
		}
	}
	if err := c.Band("", look, below, above); err != nil {
		return err
	}
	if len(crosses) > 0 {
		if err := c.Points("a run", chart.Other, crosses); err != nil {
			return err
		}
	}
	if err := c.Line(kind, look, records.line(low, high, mean)); err != nil {
		return err
	}
	if first {
		textbook := records.line(low, high, func(r Record) float64 { return r.Textbook })
		if err := c.Dashed("textbook", chart.Other, chart.Dashes, textbook); err != nil {
			return err
		}
	}
	predicted := records.line(low, high, func(r Record) float64 { return r.Predicted })
	return c.Dashed("predicted", look, chart.DashDots, predicted)
}

func mean(r Record) float64 { return r.Mean }

// line returns the points of a rate, in per cent, above 0, from low to high.
func (records curve) line(low, high float64, rate func(Record) float64) (line plotter.XYs) {
	for _, r := range records {
		if y := 100 * rate(r); y > 0 && y >= low && y <= high {
			line = append(line, plotter.XY{X: r.x(), Y: y})
		}
	}
	return line
}
