// Package chart draws charts in one style, as SVG that is readable on light and dark pages, in
// print, and without color: what a color says, a shape, a dash or a label says too.
//
// Everything is painted in the color of the group around it ("currentColor"): a series in that of
// its Look, all else in that of the page's text.
package chart

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"
)

// An XY is a point.
type XY struct{ X, Y float64 }

// A Chart has two axes and series between them. Lengths are in pixels.
type Chart struct {
	Title  string
	X, Y   Axis
	series []Series
}

// A Series is what belongs together in a chart.
type Series struct {
	Name   string // in the legend; without a name the series is not there
	Look   Look
	Style  Style
	Points []XY
}

// A Style says what is drawn.
type Style int

const (
	Line   Style = iota // a line with a glyph at each point
	Dashes              // a line of dashes: what was computed, not measured
	Points              // a glyph at each point
)

// New returns an empty chart with a title and the names of its axes.
func New(title, x, y string) *Chart {
	return &Chart{Title: title, X: Axis{Label: x}, Y: Axis{Label: y}}
}

// Add draws a series. Points outside of the axes are the caller's mistake.
func (c *Chart) Add(s Series) { c.series = append(c.series, s) }

// svg returns the series as it is drawn through the points, which are pixels.
func (s Series) svg(points []XY) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<g style=\"color:%s\">\n", s.Look.color)
	if s.Style != Points {
		dashes := "none"
		if s.Style == Dashes {
			dashes = "4 3"
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="currentColor" `+
			"stroke-width=\"1.4\" stroke-dasharray=\"%s\"/>\n", pixels(points), dashes)
	}
	if s.Style != Dashes {
		for _, p := range points {
			b.WriteString(s.Look.at(p))
		}
	}
	return b.String() + "</g>\n"
}

func pixels(points []XY) string {
	var all []string
	for _, p := range points {
		all = append(all, fmt.Sprintf("%.1f,%.1f", p.X, p.Y))
	}
	return strings.Join(all, " ")
}

// Margins around the area between the axes, and the size of its texts. A browser's font may be
// wider than ours: letter is an upper estimate.
const (
	top, right, bottom = 28.0, 16.0, 40.0
	letter             = 6.0
)

// left returns the width of the margin for the labels of the vertical axis.
func (c *Chart) left() float64 {
	width := 52.0
	for _, n := range c.Y.Names {
		width = max(width, letter*float64(max(len(n.Text), len(n.Example)))+12)
	}
	return width
}

// draw draws the chart with its upper left corner at 0, 0.
func (c *Chart) draw(b *strings.Builder, width, height float64) {
	x := c.X.scale(c.left(), width-right, c.values(func(p XY) float64 { return p.X }))
	y := c.Y.scale(height-bottom, top, c.values(func(p XY) float64 { return p.Y }))
	middle := (x.from + x.to) / 2
	label(b, middle, 15, "middle", 12, c.Title)
	label(b, middle, height-6, "middle", 11, c.X.Label)
	fmt.Fprintf(b, `<g transform="translate(11 %.1f) rotate(-90)">`, (y.from+y.to)/2)
	label(b, 0, 0, "middle", 11, c.Y.Label)
	b.WriteString("</g>\n")
	for _, t := range x.ticks {
		line(b, x.at(t.at), y.from, x.at(t.at), y.to, `stroke-opacity="0.18"`)
		label(b, x.at(t.at), y.from+14, "middle", 10, t.Text)
	}
	for _, t := range y.ticks {
		line(b, x.from, y.at(t.at), x.to, y.at(t.at), `stroke-opacity="0.18"`)
		up := 3.0
		if t.Example != "" {
			up = -1
			label(b, x.from-6, y.at(t.at)+9, "end", 8.5, t.Example)
		}
		label(b, x.from-6, y.at(t.at)+up, "end", 10, t.Text)
	}
	for _, s := range c.series {
		var points []XY
		for _, p := range s.Points {
			points = append(points, XY{x.at(p.X), y.at(p.Y)})
		}
		b.WriteString(s.svg(points))
	}
}

// values returns a coordinate of all points.
func (c *Chart) values(of func(XY) float64) (all []float64) {
	for _, s := range c.series {
		for _, p := range s.Points {
			all = append(all, of(p))
		}
	}
	return all
}

func line(b *strings.Builder, x1, y1, x2, y2 float64, style string) {
	fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="currentColor" %s/>`+"\n", x1, y1, x2, y2,
		style)
}

func label(b *strings.Builder, x, y float64, anchor string, size float64, text string) {
	if text != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%v">%s</text>`+"\n", x,
			y, anchor, size, html.EscapeString(text))
	}
}

// A Figure is charts side by side, with a legend for all of them.
type Figure struct {
	Title         string  // what it is, for those who cannot see it
	Desc          string  // what it shows, for them too
	Width, Height float64 // of each chart, without the legend
	Charts        []*Chart
}

// Inline returns the figure as an SVG element of a page. It is as wide as the page lets it be, and
// has the color of the text around it.
func (f *Figure) Inline() template.HTML { return template.HTML(f.svg(`class="chart"`, "")) }

// Write writes the figure as a file. It brings its own background, light or dark as the reader has
// asked for.
func (f *Figure) Write(w io.Writer) error {
	_, err := io.WriteString(w, f.svg("", "<style>svg{color:#1f2328;background:#fff}\n"+
		"@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}</style>\n"))
	return err
}

func (f *Figure) svg(attributes, style string) string {
	var b strings.Builder
	width := f.Width * float64(len(f.Charts))
	legend, rows := f.legend(width)
	height := f.Height + 20*float64(rows)
	if style != "" {
		attributes = fmt.Sprintf(`width="%v" height="%v"`, width, height)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" %s role="img" viewBox="0 0 %v %v" `+
		"fill=\"currentColor\" font-family=\"Arial,Helvetica,sans-serif\">\n"+
		"<title>%s</title>\n<desc>%s</desc>\n%s", attributes, width, height,
		html.EscapeString(f.Title), html.EscapeString(f.Desc), style)
	for i, c := range f.Charts {
		fmt.Fprintf(&b, "<g transform=\"translate(%v 0)\">\n", float64(i)*f.Width)
		c.draw(&b, f.Width, f.Height)
		b.WriteString("</g>\n")
	}
	fmt.Fprintf(&b, "<g transform=\"translate(0 %v)\">\n%s</g>\n</svg>\n", f.Height, legend)
	return b.String()
}

// legend returns the names of all series, each once, in lines of that width.
func (f *Figure) legend(width float64) (legend string, rows int) {
	var b strings.Builder
	var seen []string
	x, y := width, -10.0
	for _, c := range f.Charts {
		for _, s := range c.series {
			if s.Name == "" || slices.Contains(seen, s.Name) {
				continue
			}
			seen = append(seen, s.Name)
			room := 42 + letter*float64(len(s.Name))
			if x+room > width {
				x, y = 10, y+20
				rows++
			}
			sample := []XY{{x, y}, {x + 20, y}}
			if s.Style == Points {
				sample = []XY{{x + 10, y}}
			}
			b.WriteString(s.svg(sample))
			label(&b, x+26, y+3.5, "start", 10, s.Name)
			x += room
		}
	}
	return b.String(), rows
}
