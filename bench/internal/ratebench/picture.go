package ratebench

import (
	"slices"

	"github.com/levelbloom/levelbloom/bench/internal/chart"
	"github.com/levelbloom/levelbloom/bench/internal/keys"
	"github.com/levelbloom/levelbloom/bench/internal/kind"
)

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
		engine, own := owner(ofN[0].N)
		c := chart.Chart{Title: engine + ": " + keys.CountN(ofN[0].N) + " per filter",
			X: chart.Axis{Min: low, Max: 100, Label: "false positives, % (10 bits per key)"}}
		shapes := groups(ofN, func(r Record) string { return r.Shape })
		line := map[string]float64{} // by shape
		for i, shape := range shapes {
			name := shape[0].Shape
			c.Y.Names = append(c.Y.Names, chart.Name{Text: name, Example: keys.ExampleOf(name)})
			line[name] = float64(len(shapes) - 1 - i)
		}
		for _, ofKind := range groups(ofN, func(r Record) string { return r.Kind }) {
			s := chart.Series{Name: ofKind[0].Kind, Look: chart.LookOf(ofKind[0].Kind)}
			if s.Name == own {
				s.Name = engine + "'s own"
			} else if slices.Contains(kind.Own, s.Name) {
				continue
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
