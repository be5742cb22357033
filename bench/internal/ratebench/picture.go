package ratebench

import (
	"slices"
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
	const low = 0.03 // per cent; lower rates are drawn there
	shown := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Bits != 10 })
	for _, ofN := range groups(shown, func(r Record) int { return r.N }) {
		c := chart.Chart{Title: ofN[0].Of(), X: chart.Axis{Log: true, Min: low, Max: 100,
			Label: "false positives, % (10 bits per key)"}}
		shapes := groups(ofN, func(r Record) string { return r.Shape })
		line := map[string]float64{} // by shape
		for i, shape := range shapes {
			name := shape[0].Shape
			c.Y.Names = append(c.Y.Names, chart.Name{Text: name, Example: keys.ExampleOf(name)})
			line[name] = float64(len(shapes) - 1 - i)
		}
		for _, ofKind := range groups(ofN, func(r Record) string { return r.Kind }) {
			name := ofKind[0].Kind
			s := chart.Series{Name: name, Look: chart.LookOf(name)}
			if own, ok := owners[name]; ok {
				if s.Name = own + "'s own"; !strings.HasPrefix(c.Title, own) {
					continue
				}
			}
			for _, r := range ofKind {
				s.Points = append(s.Points, chart.XY{X: max(low, 100*r.FPR), Y: line[r.Shape]})
			}
			c.Series = append(c.Series, s)
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
