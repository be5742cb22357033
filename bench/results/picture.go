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
// ground, for light and dark pages, and narrow, so that a telephone shows texts large enough. Each
// text is anchored where it belongs, so any font will do.
func draw(random, decimals []engines.Record) string {
	const width, left, right, top, rowHeight = 480, 230, 440, 106, 24
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

	var rows []engines.Record // an engine's name has a row of its own, before
	worst := map[string]float64{}
	for i, r := range random {
		if r.Filter == engines.None {
			rows = append(rows, engines.Record{Engine: r.Engine})
		}
		if r.Filter != "bloom" { // about as the engine's own
			rows = append(rows, r)
			worst[r.Engine+r.Filter] = decimals[i].Absent.PerThousand()
		}
	}
	bottom := top + rowHeight*len(rows)
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" viewBox=\"0 0 %d %d\" "+
		"fill=\"%s\" font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\" font-size=\"14\">\n"+
		"<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#fff\"/>\n", width, bottom+44, ink)
	text(12, 18, bold, "Data blocks read for 1,000 absent keys")
	text(12, 40, "", "Filters have 10 bits per key. Left is better.")
	circle(blue, blue, 18, 62)
	text(30, 62, "", "random keys, such as UUIDs and hashes")
	circle("#fff", red, 18, 84)
	text(30, 84, "", "dense decimals, if lookups of these read more blocks")
	for tick := 1.0; tick <= 10_000; tick *= 10 {
		line(x(tick), top, x(tick), bottom)
		text(x(tick), bottom+12, middle, fmt.Sprintf("%.0f", tick))
	}
	text((left+right)/2, bottom+30, middle, "data blocks, logarithmic")
	for i, r := range rows {
		y := top + rowHeight*i + rowHeight/2
		if r.Filter == "" {
			line(12, y-rowHeight/2, right, y-rowHeight/2)
			text(12, y, bold, engines.EngineTitle(r.Engine))
			continue
		}
		reads, bad := r.Absent.PerThousand(), worst[r.Engine+r.Filter]
		text(24, y, "", engines.Title(r.Filter))
		circle(blue, blue, x(reads), y)
		if bad > 1.1*reads {
			text(x(reads)-9, y, halo+" "+end, report.Digits(reads))
			circle("#fff", red, x(bad), y)
			text(x(bad)+9, y, halo+` fill="`+red+`"`, report.Digits(bad))
		} else {
			text(x(reads)+9, y, halo, report.Digits(reads))
		}
	}
	return b.String() + "</svg>\n"
}
