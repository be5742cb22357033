package main

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/levelbloom/levelbloom/bench/internal/engines"
	"github.com/levelbloom/levelbloom/bench/internal/report"
)

// What is drawn, and how: the color-blind tell the colors apart.
const (
	ink, pale = "#24292f", "#d0d7de"
	blue, red = "#0062a3", "#c84e00"
	bold      = `font-weight="600"`
	middle    = `text-anchor="middle"`
	end       = `text-anchor="end"`
	halo      = `paint-order="stroke" stroke="#fff" stroke-width="4"` // over lines
)

// draw shows what lookups of absent keys read in engines, on a logarithmic scale: a dot for random
// keys, and a ring for dense decimals where these read more, by a tenth. It is SVG with a white
// ground, for light and dark pages. Each text is anchored where it belongs, so any font will do.
func draw(random, decimals []engines.Record) string {
	const width, left, right, top, rowHeight = 800, 290, 740, 72, 26
	var b strings.Builder
	text := func(x float64, y int, attributes, s string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" %s>%s</text>\n", x, y+5, attributes,
			html.EscapeString(s))
	}
	line := func(x1 float64, y1 int, x2 float64, y2 int) {
		fmt.Fprintf(&b, "<path stroke=\"%s\" d=\"M%.1f %dL%.1f %d\"/>\n", pale, x1, y1, x2, y2)
	}
	circle := func(fill, stroke string, x float64, y int) {
		fmt.Fprintf(&b, "<circle fill=\"%s\" stroke=\"%s\" stroke-width=\"2\" cx=\"%.1f\" "+
			"cy=\"%d\" r=\"5\"/>\n", fill, stroke, x, y)
	}
	x := func(reads float64) float64 { return left + math.Log10(reads)/4*(right-left) }

	var rows []engines.Record
	worst := map[string]float64{}
	for i, r := range random {
		if r.Filter != "bloom" { // as the engine's own
			rows = append(rows, r)
			worst[r.Engine+r.Filter] = decimals[i].Absent.PerThousand()
		}
	}
	bottom := top + rowHeight*len(rows)
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" fill=\"%s\" "+
		"font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\" font-size=\"13\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#fff\"/>\n", width, bottom+44, ink)
	text(14, 18, bold, "Data blocks read for 1,000 absent keys, with filters of 10 bits per key")
	circle(blue, blue, 19, 46)
	text(32, 46, "", "random keys, such as UUIDs and hashes")
	circle("#fff", red, left+30, 46)
	text(left+42, 46, "", "dense decimals, where they read more: LevelDB's hash at its worst")
	for tick := 1.0; tick <= 10_000; tick *= 10 {
		line(x(tick), top, x(tick), bottom)
		text(x(tick), bottom+12, middle, fmt.Sprintf("%.0f", tick))
	}
	text((left+right)/2, bottom+30, middle, "data blocks, logarithmic")
	previous := ""
	for i, r := range rows {
		if r.Engine != previous {
			line(14, top+rowHeight*i, right, top+rowHeight*i)
			text(14, top+rowHeight*i+rowHeight/2, bold, engines.EngineTitle(r.Engine))
		}
		previous = r.Engine
		y, reads := top+rowHeight*i+rowHeight/2, r.Absent.PerThousand()
		text(left-14, y, end, engines.Title(r.Filter))
		circle(blue, blue, x(reads), y)
		text(x(reads)+10, y, halo, report.Digits(reads))
		if bad := worst[r.Engine+r.Filter]; bad > 1.1*reads {
			circle("#fff", red, x(bad), y)
			text(x(bad)+10, y, halo+` fill="`+red+`"`, report.Digits(bad))
		}
	}
	return b.String() + "</svg>\n"
}
