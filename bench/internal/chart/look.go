package chart

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// A Look tells what is drawn from everything else: by its color, and by its shape.
type Look struct {
	Color color.Color
	Shape draw.GlyphDrawer
}

// ink is what text is written in: dark on a light page, light on a dark one. See Figure.
var (
	ink   = color.Black
	faint = color.NRGBA{0, 0, 0, 0x30}
)

// looks are those of kinds, by place in kind.All. The colors are told
// apart by color-blind people too (Okabe and Ito, "Color Universal Design", 2008), and all have a
// contrast of 3 or more with white and with a dark page.
var looks = []Look{
	{color.RGBA{0xd5, 0x5e, 0x00, 0xff}, draw.CircleGlyph{}},
	{color.RGBA{0x1a, 0x7f, 0xc0, 0xff}, draw.BoxGlyph{}},
	{color.RGBA{0x00, 0x9e, 0x73, 0xff}, draw.PyramidGlyph{}},
	{ink, cross{0.8, 0.8}},
}

// Other is the look of what is no kind of filter.
var Other = Look{color.RGBA{0x80, 0x80, 0x80, 0xff}, cross{1, 0}}

// LookOf returns the look of a kind of filter, or Other. It is the same in all charts.
func LookOf(name string) Look {
	for i, k := range kind.All {
		if k.Name == name {
			return looks[i]
		}
	}
	return Other
}

func (l Look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.Color, Radius: 3.5, Shape: l.Shape}
}

// cross is a cross that is as bold as the other shapes: one stroke from -x, -y to x, y, and the one
// across.
type cross struct{ x, y vg.Length }

func (g cross) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	line := draw.LineStyle{Color: style.Color, Width: 1.6}
	x, y := style.Radius*g.x, style.Radius*g.y
	c.StrokeLine2(line, at.X-x, at.Y-y, at.X+x, at.Y+y)
	c.StrokeLine2(line, at.X-y, at.Y+x, at.X+y, at.Y-x)
}
