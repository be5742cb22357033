package ratebench

import (
	"bytes"
	"image/color"
	"io"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Keys per filter in engines with records of 116 bytes: in goleveldb's windows of 2 KiB (values are
// compressed to half), and in a Pebble table of 12 MB.
const (
	WindowKeys = 36
	TableKeys  = 100_000
)

// glyphs are the colors and shapes of kinds, in the order of Outcome.Kinds. The colors are told
// apart by color-blind people too (Okabe and Ito, "Color Universal Design", 2008).
var glyphs = []struct {
	color color.Color
	shape draw.GlyphDrawer
}{
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, draw.CircleGlyph{}},
	{color.RGBA{0x00, 0x72, 0xb2, 0xff}, draw.BoxGlyph{}},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.PyramidGlyph{}},
	{color.RGBA{0x00, 0x00, 0x00, 0xff}, draw.CrossGlyph{}},
}

// Draw writes an SVG of the rates: a panel for each number of keys, a line for each shape, a glyph
// for each kind.
func (o *Outcome) Draw(w io.Writer) error {
	const width, height = 22 * vg.Centimeter, 9.5 * vg.Centimeter
	panels := []struct {
		title string
		n     int
	}{{"goleveldb: 36 keys per filter", WindowKeys}, {"Pebble: 100,000 keys per filter", TableKeys}}
	row := make([]*plot.Plot, len(panels))
	for i, panel := range panels {
		p, err := o.panel(panel.title, panel.n, i == len(panels)-1)
		if err != nil {
			return err
		}
		row[i] = p
	}
	canvas := vgsvg.New(width, height)
	dc := draw.New(canvas)
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	tiles := draw.Tiles{Rows: 1, Cols: len(row), PadX: 8 * vg.Millimeter, PadTop: 3 * vg.Millimeter,
		PadBottom: 2 * vg.Millimeter, PadLeft: 3 * vg.Millimeter, PadRight: 5 * vg.Millimeter}
	for i, c := range plot.Align([][]*plot.Plot{row}, tiles, dc)[0] {
		row[i].Draw(c)
	}
	// A browser without the font that the text was laid out for takes one with the same widths.
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	fonts := "font-family:Liberation Sans,Arial,Helvetica,sans-serif"
	_, err := w.Write(
		regexp.MustCompile(`font-family:[^;"]*`).ReplaceAll(svg.Bytes(), []byte(fonts)),
	)
	return err
}

func (o *Outcome) panel(title string, n int, legend bool) (*plot.Plot, error) {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: 10}
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label,
		&p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font = sans
	}
	p.Title.Text, p.Title.Padding = title, 3*vg.Millimeter
	p.X.Label.Text = "false positives, % (10 bits per key)"
	p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, 0.5, 50
	var ticks plot.ConstantTicks
	for _, percent := range []float64{0.5, 1, 2, 5, 10, 20, 50} {
		ticks = append(
			ticks,
			plot.Tick{Value: percent, Label: strconv.FormatFloat(percent, 'g', -1, 64)},
		)
	}
	p.X.Tick.Marker = ticks
	var names []string
	for i := range o.Shapes {
		names = append(names, o.Shapes[len(o.Shapes)-1-i].Name) // the first one on top
	}
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(names))-0.4
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xd0}, color.Gray{0xe8}
	p.Add(grid)
	for i, k := range o.Kinds {
		var points plotter.XYs
		for _, result := range o.Results {
			if result.N == n {
				y := slices.Index(names, result.Shape.Name)
				points = append(points, plotter.XY{X: 100 * result.Rates[i].Mean(), Y: float64(y)})
				p.X.Max = max(p.X.Max, 100*result.Rates[i].Mean())
			}
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return nil, err
		}
		style := glyphs[i%len(glyphs)]
		scatter.GlyphStyle = draw.GlyphStyle{
			Color:  style.color,
			Radius: vg.Points(4),
			Shape:  style.shape,
		}
		p.Add(scatter)
		if legend {
			p.Legend.Add(k.Name, scatter)
		}
	}
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, false, vg.Millimeter
	return p, nil
}
