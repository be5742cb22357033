package ratebench

import (
	_ "embed"
	"io"
	"math"
	"slices"
	"strconv"
	"text/template"

	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

// The picture has a chart for each number of keys per filter, with a line for each shape of keys and
// a glyph for each kind of filter. It is SVG that is readable on light and dark pages, in print, and
// without color: what a color says, a shape says too.
var (
	//go:embed picture.svg
	pictureSVG string

	picture = template.Must(template.New("picture").Funcs(template.FuncMap{
		"px": func(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) },
	}).Parse(pictureSVG))
)

// A look tells a kind of filter from the others.
type look struct {
	Color string
	Glyph string // an SVG path around 0, 0
	Open  bool   // the glyph is lines, and not filled
}

// looks are those of filters. The colors are told apart by color-blind people too (Okabe and Ito,
// "Color Universal Design", 2008), and have a contrast of 3 or more with white and with a dark
// page. Those of engines are rings, around a glyph with the same rate.
var looks = map[string]look{
	"bloom":     {"#d55e00", "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", false},
	"tuned":     {"#1a7fc0", "M-3 -3h6v6h-6z", false},
	"ribbon":    {"#009e73", "M0 -4l4 7h-8z", false},
	"goleveldb": {"currentColor", "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z", true},
	"pebblev2":  {"currentColor", "M0 -6.5l6.5 6.5l-6.5 6.5l-6.5 -6.5z", true},
}

// other is the look of any other kind.
var other = look{"#808080", "M-3.5 0h7M0 -3.5v7", true}

// Sizes in pixels. A browser's font may be wider than ours: letter is an upper estimate.
const (
	width, height      = 430.0, 380.0 // of a chart, without the legend
	top, right, bottom = 28.0, 16.0, 40.0
	letter             = 6.0
)

// The axis of rates is logarithmic, in per cent. Lower rates are drawn at its end.
const lowest, highest = 0.03, 100.0

// A chart is drawn from Left to Right and from Bottom to Top.
type chart struct {
	Title                    string
	Left, Right, Bottom, Top float64
	Rates, Shapes            []label
	Series                   []series
}

// Middle is between Left and Right.
func (c *chart) Middle() float64 { return (c.Left + c.Right) / 2 }

// at returns the pixel of a rate in per cent.
func (c *chart) at(percent float64) float64 {
	part := math.Log(max(percent, lowest)/lowest) / math.Log(highest/lowest)
	return c.Left + part*(c.Right-c.Left)
}

// A label stands at a pixel of an axis.
type label struct {
	Text, Example string
	At            float64
}

// A series has a glyph at each point.
type series struct {
	Name string // in the legend
	Look look
	At   []point
}

type point struct{ X, Y float64 }

// owner returns the engine whose filters have n keys each, with records of 116 bytes, and the name
// of its own kind: goleveldb's are of windows of 2 KiB, whose values are compressed to half, and
// Pebble's are of tables.
func owner(n int) (engine, own string) {
	const window, leastTable = 36, 1000
	switch {
	case n == window:
		return "goleveldb", "goleveldb"
	case n >= leastTable:
		return "Pebble", "pebblev2"
	}
	return "filters", ""
}

// WritePicture draws the rates at 10 bits per key. An engine's own filter is shown where filters are
// of as many keys as in that engine.
func WritePicture(w io.Writer, records []Record) error {
	shown := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Bits != 10 })
	var charts []*chart
	for i, ofN := range groups(shown, func(r Record) int { return r.N }) {
		charts = append(charts, newChart(float64(i)*width, ofN))
	}
	all := width * float64(len(charts))
	legend, below := legend(all, charts)
	return picture.Execute(w, map[string]any{"Width": all, "Height": height + below,
		"Charts": charts, "Legend": legend})
}

// newChart draws the rates of filters of one number of keys.
func newChart(left float64, records []Record) *chart {
	engine, own := owner(records[0].N)
	shapes := groups(records, func(r Record) string { return r.Shape })
	names := 52.0 // room for them
	for _, shape := range shapes {
		name := shape[0].Shape
		names = max(names, 12+letter*float64(max(len(name), len(keys.ExampleOf(name)))))
	}
	c := &chart{Title: engine + ": " + keys.CountN(records[0].N) + " per filter",
		Left: left + names, Right: left + width - right, Bottom: height - bottom, Top: top}
	for _, percent := range []float64{0.1, 1, 10, 100} {
		c.Rates = append(c.Rates, label{Text: strconv.FormatFloat(percent, 'f', -1, 64),
			At: c.at(percent)})
	}
	line := map[string]float64{} // by shape
	for i, shape := range shapes {
		name := shape[0].Shape
		line[name] = c.Top + (float64(i)+0.6)/(float64(len(shapes))+0.2)*(c.Bottom-c.Top)
		c.Shapes = append(c.Shapes, label{name, keys.ExampleOf(name), line[name]})
	}
	for _, ofKind := range groups(records, func(r Record) string { return r.Kind }) {
		s := series{Name: ofKind[0].Kind, Look: other}
		if known, ok := looks[s.Name]; ok {
			s.Look = known
		}
		if s.Name == own {
			s.Name = engine + "'s own"
		} else if slices.Contains(kind.Own, s.Name) {
			continue
		}
		for _, r := range ofKind {
			s.At = append(s.At, point{c.at(100 * r.FPR), line[r.Shape]})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// legend returns the names of all series, each once, beside a sample of its glyph, in lines of that
// width below the charts, and the height of all lines.
func legend(width float64, charts []*chart) (entries []series, below float64) {
	x := width
	for _, c := range charts {
		for _, s := range c.Series {
			if slices.ContainsFunc(entries, func(e series) bool { return e.Name == s.Name }) {
				continue
			}
			room := 42 + letter*float64(len(s.Name))
			if x+room > width {
				x, below = 10, below+20
			}
			s.At = []point{{x + 10, height - 10 + below}}
			entries = append(entries, s)
			x += room
		}
	}
	return entries, below
}
