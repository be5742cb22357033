package chart

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Figure is charts side by side, with a legend for all of them.
type Figure struct {
	Title string // what it is, for those who cannot see it
	Desc  string // what it shows, for them too
	// Size of each chart, without the legend.
	Width, Height vg.Length
	Charts        []*Chart
}

// Inline returns the figure as an SVG element of a page. It is as wide as the page lets it be, and
// has the color of the text around it.
func (f *Figure) Inline() template.HTML {
	width, height, body := f.draw()
	return template.HTML(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" `+
		`role="img" viewBox="0 0 %.5g %.5g" fill="currentColor" font-family="%s">`+
		"\n<title>%s</title>\n<desc>%s</desc>\n%s</svg>\n", width.Points(), height.Points(), fonts,
		html.EscapeString(f.Title), html.EscapeString(f.Desc), body))
}

// WriteTo writes the figure as a file. It brings its own background, light or dark as the reader
// has asked for.
func (f *Figure) WriteTo(w io.Writer) (int64, error) {
	width, height, body := f.draw()
	n, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.5gpt" `+
		`height="%.5gpt" viewBox="0 0 %.5[1]g %.5[2]g" fill="currentColor" font-family="%[3]s">`+
		"\n<title>%[4]s</title>\n<desc>%[5]s</desc>\n"+
		"<style>svg{color:#1f2328;background:#fff}\n@media(prefers-color-scheme:dark)"+
		"{svg{color:#e6edf3;background:#0d1117}}</style>\n%[6]s</svg>\n", width.Points(),
		height.Points(), fonts, html.EscapeString(f.Title), html.EscapeString(f.Desc), body)
	return int64(n), err
}

// A browser without the font that the text was laid out for takes one with the same widths.
const fonts = "Liberation Sans,Arial,Helvetica,sans-serif"

var (
	header  = regexp.MustCompile(`(?s)^.*?<svg.*?>\n`)
	ownFont = regexp.MustCompile(`font-family:[^"]*;font-size`)
)

// draw returns the figure's elements. What is black has the color of the text around the figure.
func (f *Figure) draw() (width, height vg.Length, body []byte) {
	const pad = 3 * vg.Millimeter
	width = f.Width * vg.Length(len(f.Charts))
	entries := f.entries()
	legend := rows(entries, width-2*pad)
	height = f.Height + vg.Length(len(legend))*rowHeight
	canvas := vgsvg.New(width, height)
	dc := draw.New(canvas)
	row := make([]*plot.Plot, len(f.Charts))
	for i, c := range f.Charts {
		row[i] = c.Plot
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: 2 * pad, PadTop: pad, PadBottom: pad / 2,
		PadLeft: pad, PadRight: 2 * pad}
	above := draw.Crop(dc, 0, 0, height-f.Height, 0)
	for i, c := range plot.Align([][]*plot.Plot{row}, tiles, above)[0] {
		row[i].Draw(c)
	}
	y := height - f.Height
	for _, line := range legend {
		y -= rowHeight
		x := pad
		for _, e := range line {
			e.draw(dc, x, y)
			x += e.width()
		}
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		panic(err) // a buffer never fails
	}
	body = header.ReplaceAll(svg.Bytes(), nil)
	body = bytes.TrimSuffix(bytes.TrimSpace(body), []byte("</svg>"))
	body = ownFont.ReplaceAll(body, []byte("font-size"))
	return width, height, bytes.ReplaceAll(body, []byte("#000000"), []byte("currentColor"))
}

// entries returns those of all charts' legends, each name once.
func (f *Figure) entries() (all []entry) {
	for _, c := range f.Charts {
		for _, e := range c.legend {
			if !slices.ContainsFunc(all, func(o entry) bool { return o.name == e.name }) {
				all = append(all, e)
			}
		}
	}
	return all
}

// The size of a legend's entry.
const (
	rowHeight  = 5 * vg.Millimeter
	thumbWidth = 7 * vg.Millimeter
	gap        = 1.5 * vg.Millimeter // between thumb and name
	entryGap   = 5 * vg.Millimeter
)

var legendStyle = text.Style{Font: sans, Handler: plot.DefaultTextHandler, YAlign: text.YCenter}

func (e entry) width() vg.Length {
	return thumbWidth + gap + legendStyle.Width(e.name) + entryGap
}

func (e entry) draw(c draw.Canvas, x, y vg.Length) {
	icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: x, Y: y + 1}, Max: vg.Point{X: x + thumbWidth, Y: y + rowHeight - 1}}}
	for _, t := range e.thumbs {
		t.Thumbnail(&icon)
	}
	style := legendStyle
	style.Color = ink
	c.FillText(style, vg.Point{X: x + thumbWidth + gap, Y: y + rowHeight/2}, e.name)
}

// rows breaks the entries into lines of that width.
func rows(entries []entry, width vg.Length) (lines [][]entry) {
	left := vg.Length(0)
	for _, e := range entries {
		if len(lines) == 0 || e.width() > left {
			lines, left = append(lines, nil), width
		}
		last := &lines[len(lines)-1]
		*last = append(*last, e)
		left -= e.width()
	}
	return lines
}
