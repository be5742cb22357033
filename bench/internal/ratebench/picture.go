package ratebench

import (
	"fmt"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
)

// Keys per filter in engines with records of 116 bytes: in goleveldb's windows of 2 KiB (values are
// compressed to half), and in a Pebble table of 12 MB.
const (
	WindowKeys = 36
	TableKeys  = 100_000
)

// ShapeFigure has a chart for each number of keys per filter, with a line for each shape of keys
// and a glyph for each kind. The rates are those at 10 bits per key. An engine's own filter is
// shown where filters are of as many keys as in that engine.
func ShapeFigure(records []Record) *chart.Figure {
	f := &chart.Figure{
		Title: "False positives by kind of filter and shape of keys",
		Desc: "A line for each shape of keys, with an example; a glyph for each kind of filter. " +
			"The scale is logarithmic. Further left is better.",
		Width: 430, Height: 380,
	}
	var shown []Record
	low, high := 0.2, 50.0 // in per cent
	for _, r := range records {
		if r.Bits == 10 {
			shown = append(shown, r)
			if r.FPR > 0 {
				low, high = min(low, 80*r.FPR), max(high, 100*r.FPR)
			}
		}
	}
	for _, ofN := range groups(shown, func(r Record) int { return r.N }) {
		c := chart.New(ofN[0].Of(), "false positives, % (10 bits per key)", "")
		c.X.Log, c.X.Min, c.X.Max = true, low, high
		shapes := groups(ofN, func(r Record) string { return r.Shape })
		line := map[string]float64{} // by shape
		for i, shape := range shapes {
			name := shape[0].Shape
			c.Y.Names = append(c.Y.Names, chart.Name{Text: name, Example: keys.ExampleOf(name)})
			line[name] = float64(len(shapes) - 1 - i)
		}
		for _, ofKind := range groups(ofN, func(r Record) string { return r.Kind }) {
			name := ofKind[0].Kind
			s := chart.Series{Name: name, Look: chart.LookOf(name), Style: chart.Points}
			if own, ok := owners[name]; ok {
				if s.Name = own + "'s own"; !strings.HasPrefix(c.Title, own) {
					continue
				}
			}
			for _, r := range ofKind {
				s.Points = append(s.Points, chart.XY{X: max(low, 100*r.FPR), Y: line[r.Shape]})
			}
			c.Add(s)
		}
		f.Charts = append(f.Charts, c)
	}
	return f
}

// owners are the engines of kinds that are an engine's own, as Of names them.
var owners = map[string]string{"goleveldb": "goleveldb", "pebblev2": "Pebble"}

// Of says of how many keys the record's filters are, and which engine has such filters.
func (r Record) Of() string {
	switch of := keys.CountN(r.N) + " per filter"; {
	case r.N == WindowKeys:
		return "goleveldb: " + of
	case r.N >= leastTable:
		return "Pebble: " + of
	default:
		return of
	}
}

// leastTable is the number of keys from which on a filter is more likely that of a Pebble table
// than of a window.
const leastTable = 1000

// of returns a record's place on the axis.
func (a Axis) of(r Record) float64 {
	switch a {
	case Fill:
		return float64(r.N) / float64(r.Capacity)
	case Bits:
		return r.Bits
	}
	return float64(r.N)
}

// label names the axis.
func (a Axis) label(r Record) string {
	switch a {
	case Fill:
		return fmt.Sprintf("keys / capacity of %s", keys.CountN(r.Capacity))
	case Bits:
		return "bits per key"
	}
	return "keys per filter"
}

// fixed says what all records of a curve have in common.
func (a Axis) fixed(r Record) string {
	if a == Bits {
		return keys.CountN(r.N) + " per filter"
	}
	return fmt.Sprintf("%v bits per key", r.Bits)
}

// CurveFigure is Curve as a figure. It says if the records are not complete.
func CurveFigure(against Axis, records []Record, complete bool) *chart.Figure {
	c := Curve(against, records)
	if !complete {
		c.Title += ", INCOMPLETE"
	}
	return &chart.Figure{
		Title: "False-positive rates against " + string(against),
		Desc: "Measured rates with their 95 % intervals, the textbook's and computed ones. Rates " +
			"are on a logarithmic scale.",
		Width: 480, Height: 340, Charts: []*chart.Chart{c},
	}
}

// Curve draws the rates of each kind, a band for the interval, and the computed rates; of the first
// kind the textbook's as well.
func Curve(against Axis, records []Record) *chart.Chart {
	c := chart.New(against.fixed(records[0]), against.label(records[0]), "false positives, %")
	c.Y.Log, c.X.Log = true, against == Keys
	c.X.Min, c.X.Max = against.of(records[0]), against.of(records[len(records)-1])
	if against == Fill {
		c.X.Min = 0
		c.MarkX(1, "capacity")
	}
	c.Y.Min, c.Y.Max = 1, 1
	for _, r := range records {
		if r.FPR > 0 {
			c.Y.Min, c.Y.Max = min(c.Y.Min, 70*r.FPR), max(c.Y.Max, 140*r.FPR)
		}
	}
	add := func(name, look string, style chart.Style, of []Record, rates ...func(Record) float64) {
		s := chart.Series{Name: name, Look: chart.LookOf(look), Style: style}
		for i, rate := range rates { // of a band, there along the lower end and back along the upper one
			for j := range of {
				r := of[j]
				if i > 0 {
					r = of[len(of)-1-j]
				}
				y := 100 * rate(r)
				if style == chart.Band {
					y = min(max(y, c.Y.Min), c.Y.Max)
				}
				if y >= c.Y.Min && y <= c.Y.Max {
					s.Points = append(s.Points, chart.XY{X: against.of(r), Y: y})
				}
			}
		}
		if len(s.Points) > 0 {
			c.Add(s)
		}
	}
	for i, curve := range groups(records, func(r Record) string { return r.Kind }) {
		name := curve[0].Kind
		add("", name, chart.Band, curve, func(r Record) float64 { return r.Low },
			func(r Record) float64 { return r.High })
		add(name, name, chart.Line, curve, func(r Record) float64 { return r.FPR })
		add("computed", name, chart.DashDots, curve, func(r Record) float64 { return r.FPP })
		if i == 0 {
			add("textbook", "", chart.Dashes, curve, func(r Record) float64 { return r.Textbook })
		}
	}
	return c
}
