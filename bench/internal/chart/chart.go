// Package chart draws charts in one style, as SVG that is readable on light and dark pages, in
// print, and without color: what a color says, a shape, a dash or a label says too.
package chart

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is a plot with a legend, which is drawn below it.
type Chart struct {
	*plot.Plot
	legend []entry
}

type entry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// New returns an empty chart with a title and the names of its axes.
func New(title, x, y string) *Chart {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle,
		&p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font = sans
	}
	p.Title.Padding = 3 * vg.Millimeter
	p.X.Label.Padding, p.Y.Label.Padding = vg.Millimeter, vg.Millimeter
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = faint, faint
	p.Add(grid)
	return &Chart{Plot: p}
}

var sans = font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}

// Names makes the vertical axis one of names, the first on top, at n-1, the last at 0.
func (c *Chart) Names(names []string) {
	var bottomUp []string
	for i := range names {
		bottomUp = append(bottomUp, names[len(names)-1-i])
	}
	c.NominalY(bottomUp...)
	c.Y.Min, c.Y.Max = -0.6, float64(len(names))-0.4
	c.Y.Padding = 4 * vg.Millimeter // a browser's font may be wider than ours
}

// LogX makes the horizontal axis logarithmic, from min to max, which are above 0.
func (c *Chart) LogX(min, max float64) { logarithmic(&c.X, min, max) }

// LogY makes the vertical axis logarithmic.
func (c *Chart) LogY(min, max float64) { logarithmic(&c.Y, min, max) }

// EveryX puts a tick on the horizontal axis at 0 and after each step.
func (c *Chart) EveryX(step float64) {
	c.X.Min = 0
	var ticks plot.ConstantTicks
	for x := 0.0; x <= c.X.Max+step/1e6; x += step {
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'f', -1, 64)})
	}
	c.X.Tick.Marker = ticks
}

func logarithmic(axis *plot.Axis, low, high float64) {
	if low == high { // or Gonum would take 1 from one end, which leaves 0 or less
		low, high = low/2, high*2
	}
	axis.Scale, axis.Min, axis.Max = logScale{}, low, high
	steps := []float64{1, 2, 5}
	if high/low > 300 { // or the labels overlap
		steps = steps[:1]
	}
	var ticks plot.ConstantTicks
	for power := math.Floor(math.Log10(low)); power <= math.Log10(high); power++ {
		for _, step := range steps {
			value := step * math.Pow(10, power)
			if value >= low*0.999 && value <= high*1.001 {
				label := strconv.FormatFloat(value, 'f', max(0, -int(power)), 64)
				ticks = append(ticks, plot.Tick{Value: value, Label: label})
			}
		}
	}
	axis.Tick.Marker = ticks
}

// logScale is a plot.LogScale with the label of the axis in its middle. Gonum makes room for it at
// the arithmetic mean of the ends, which is far from the middle of a logarithmic axis.
type logScale struct{ plot.LogScale }

func (s logScale) Normalize(low, high, x float64) float64 {
	if x == 0.5*(high+low) {
		return 0.5
	}
	return s.LogScale.Normalize(low, high, x)
}

// Line draws a line through the points, with a glyph at each. An empty name has no place in the
// legend, here and below.
func (c *Chart) Line(name string, look Look, points plotter.XYs) error {
	line, glyphs, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, line.Width, glyphs.GlyphStyle = look.Color, 1.2, look.glyph()
	c.add(name, line, glyphs)
	return nil
}

// What lines without glyphs are made of.
var (
	Dashes   = []vg.Length{4, 3}
	DashDots = []vg.Length{7, 2, 1.5, 2}
)

// Dashed draws a line of dashes without glyphs: what was computed, not measured.
func (c *Chart) Dashed(name string, look Look, dashes []vg.Length, points plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = look.Color, 1.2, dashes
	c.add(name, line)
	return nil
}

// Points draws a glyph at each point.
func (c *Chart) Points(name string, look Look, points plotter.XYs) error {
	glyphs, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	glyphs.GlyphStyle = look.glyph()
	c.add(name, glyphs)
	return nil
}

// Band fills the area between two lines, which have the same horizontal places.
func (c *Chart) Band(name string, look Look, low, high plotter.XYs) error {
	outline := append(plotter.XYs{}, low...)
	for i := range high {
		outline = append(outline, high[len(high)-1-i])
	}
	band, err := plotter.NewPolygon(outline)
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Width = pale(look.Color), 0
	c.add(name, band)
	return nil
}

// pale returns a color for areas, through which other elements are visible.
func pale(full color.Color) color.Color {
	r, g, b, _ := full.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0x38}
}

type element interface {
	plot.Plotter
	plot.Thumbnailer
}

func (c *Chart) add(name string, elements ...element) {
	e := entry{name: name}
	for _, drawn := range elements {
		c.Add(drawn)
		e.thumbs = append(e.thumbs, drawn)
	}
	if name != "" {
		c.legend = append(c.legend, e)
	}
}

// Bar draws a bar from 0 to the middle at height y, with the spread from low to high as a line.
func (c *Chart) Bar(look Look, y, low, middle, high float64) error {
	const half = 0.3
	bar, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: y - half}, {X: middle, Y: y - half},
		{X: middle, Y: y + half}, {X: 0, Y: y + half}})
	if err != nil {
		return err
	}
	bar.Color, bar.LineStyle.Color = pale(look.Color), look.Color
	spread, err := plotter.NewLine(plotter.XYs{{X: low, Y: y}, {X: high, Y: y}})
	if err != nil {
		return err
	}
	spread.Color, spread.Width = ink, 2
	c.Add(bar, spread)
	return nil
}

// MarkX draws a vertical line at x with a label; MarkY a horizontal one at y. They do not widen the
// axes. The labels are at the top and on the left, where rates that grow leave room.
func (c *Chart) MarkX(x float64, label string) { c.Add(mark{at: x, label: label}) }

// MarkY: see MarkX.
func (c *Chart) MarkY(y float64, label string) { c.Add(mark{at: y, label: label, level: true}) }

type mark struct {
	at    float64
	label string
	level bool
}

func (m mark) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	from, to := vg.Point{X: x(m.at), Y: c.Min.Y}, vg.Point{X: x(m.at), Y: c.Max.Y}
	label := vg.Point{X: x(m.at) - 6, Y: c.Max.Y - 2} // a browser's font may be wider than ours
	style.XAlign, style.YAlign = text.XRight, text.YTop
	if m.level {
		from, to = vg.Point{X: c.Min.X, Y: y(m.at)}, vg.Point{X: c.Max.X, Y: y(m.at)}
		label = vg.Point{X: c.Min.X + 2, Y: y(m.at) + 2}
		style.XAlign, style.YAlign = text.XLeft, text.YBottom
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{1.5, 2}},
		from.X, from.Y, to.X, to.Y)
	c.FillText(style, label, m.label)
}
