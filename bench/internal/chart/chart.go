// Package chart draws charts in one style, as SVG that is readable on light and dark pages, in
// print, and without color: what a color says, a shape or a label says too.
//
// Everything is painted in the color of the group around it ("currentColor"): a series in that of
// its Look, all else in that of the page's text.
package chart

import (
	_ "embed"
	"io"
	"slices"
	"strconv"
	"text/template"
)

// An XY is a point.
type XY struct{ X, Y float64 }

// A Chart has two axes and series between them.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series
}

// A Series is what belongs together in a chart. It has a glyph at each point.
type Series struct {
	Name   string // in the legend
	Look   Look
	Points []XY // between the ends of the axes
}

// A Figure is charts side by side, with a legend for all of them.
type Figure struct {
	Title         string  // what it is, for those who cannot see it
	Desc          string  // what it shows, for them too
	Width, Height float64 // of each chart, without the legend, in pixels
	Charts        []Chart
}

//go:embed figure.svg
var figureSVG string

var figure = template.Must(template.New("figure").Funcs(template.FuncMap{
	"px": func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) },
}).Parse(figureSVG))

// Write writes the figure as a file. It brings its own background, light or dark as the reader has
// asked for.
func (f *Figure) Write(w io.Writer) error {
	width := f.Width * float64(len(f.Charts))
	legend, height := f.legend(width)
	var charts []drawing
	for i, c := range f.Charts {
		charts = append(charts, c.draw(float64(i)*f.Width, f.Width, f.Height))
	}
	return figure.Execute(w, map[string]any{"Title": f.Title, "Desc": f.Desc, "Width": width,
		"Height": height, "Charts": charts, "Legend": legend})
}

// Margins around the area between the axes, and the size of its texts. A browser's font may be
// wider than ours: letter is an upper estimate.
const (
	top, right, bottom = 28.0, 16.0, 40.0
	letter             = 6.0
)

// A drawing is a chart in pixels.
type drawing struct {
	Title  string
	Left   float64
	X, Y   scale
	Series []Series
}

// draw draws the chart with its upper left corner at left, 0.
func (c *Chart) draw(left, width, height float64) drawing {
	margin := 52.0
	for _, n := range c.Y.Names {
		margin = max(margin, letter*float64(max(len(n.Text), len(n.Example)))+12)
	}
	d := drawing{c.Title, left, c.X.scale(left+margin, left+width-right),
		c.Y.scale(height-bottom, top), nil}
	for _, s := range c.Series {
		s.Points = slices.Clone(s.Points)
		for i, p := range s.Points {
			s.Points[i] = XY{d.X.at(p.X), d.Y.at(p.Y)}
		}
		d.Series = append(d.Series, s)
	}
	return d
}

// An entry of the legend is a name at a point, behind a sample of its series.
type entry struct {
	Series
	XY
}

// legend returns the names of all series, each once, in lines of that width below the charts, and
// the height of all.
func (f *Figure) legend(width float64) (entries []entry, height float64) {
	x, y := width, f.Height-10
	for _, c := range f.Charts {
		for _, s := range c.Series {
			if slices.ContainsFunc(entries, func(e entry) bool { return e.Name == s.Name }) {
				continue
			}
			room := 42 + letter*float64(len(s.Name))
			if x+room > width {
				x, y = 10, y+20
			}
			s.Points = []XY{{x + 10, y}}
			entries = append(entries, entry{s, XY{x, y}})
			x += room
		}
	}
	return entries, y + 10
}
